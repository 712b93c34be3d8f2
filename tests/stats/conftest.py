"""Properties are about values; on a busy machine a deadline would fail them for being slow."""

from hypothesis import settings

settings.register_profile("stats", deadline=None)
settings.load_profile("stats")
