"""The REST API of judging: what judges are and did, every number, and files in and out."""
