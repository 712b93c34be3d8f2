"""The judging app: what judges do, and how well they agree with people."""

from django.apps import AppConfig


class JudgingConfig(AppConfig):
    name = "judging"
