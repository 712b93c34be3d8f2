"""Collecting responses: prompts go to target models, and what comes back is stored as it came."""
