"""Composition of the two apps; holds the bundled demo."""

from django.apps import AppConfig


class CarebenchWebConfig(AppConfig):
    name = "carebench_web"
