"""Whether judging goes on as it should: stalled passes, and how endpoints answer."""
