"""The annotation app: what people do."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
