"""CAREBench Web: composition of the annotation and judging apps."""

from carebench_web.celery import app as celery_app

__all__ = ["celery_app"]
