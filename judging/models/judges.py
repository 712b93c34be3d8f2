"""Judges, and the versioned texts that they are given."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models import one_of
from judging.choices import RubricScale


class Judge(models.Model):
    """A language model that scores responses. Imported judges have no endpoint."""

    slug = models.CharField(max_length=100, unique=True)
    short_name = models.CharField(max_length=50)
    family = models.CharField(max_length=100, null=True, blank=True)
    endpoint_name = models.CharField(max_length=100, null=True, blank=True)
    model_id = models.CharField(max_length=200, null=True, blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    capabilities = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=~Q(slug=""), name="judge_has_slug")]

    def __str__(self) -> str:
        return self.slug


class Rubric(models.Model):
    """One immutable version of what a judge is asked. `parent` is the version that it was edited from."""

    slug = models.SlugField(max_length=64, unique=True)
    name = models.SlugField(max_length=48)
    version = models.PositiveIntegerField()
    parent = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="+")
    scale = models.CharField(max_length=16, choices=RubricScale.choices)
    text = models.TextField()
    text_hash = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            one_of("scale", RubricScale, name="rubric_scale_known"),
            models.UniqueConstraint(fields=["name", "version"], name="rubric_version_once"),
            models.CheckConstraint(condition=~Q(name="") & Q(version__gte=1), name="rubric_has_version"),
        ]

    def __str__(self) -> str:
        return self.slug
