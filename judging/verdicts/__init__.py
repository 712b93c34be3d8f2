"""Verdict rows: what is asked of a judge or classifier, and what its reply comes to."""
