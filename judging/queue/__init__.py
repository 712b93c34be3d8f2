"""Rows as a work queue, the same for every kind: claim, call, record. The only writer of results."""
