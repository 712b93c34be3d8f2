"""Passes: freeze a configuration, make the rows, pause, resume, cancel, and say how far one is."""
