"""Verdict rows as a work queue: claim, call, record. The only writer of results."""
