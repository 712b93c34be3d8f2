"""Grading rules, their adoption, and the reports computed with them."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models import Benchmark, new_public_id


class GradingRule(models.Model):
    """An immutable rule: how the judges' scores become one verdict. Exact decimals as text in JSON."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, null=True, related_name="+")
    name = models.SlugField(max_length=64)
    definition = models.JSONField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="rule_name_once"),
            models.UniqueConstraint(fields=["name"], condition=Q(benchmark=None), name="rule_built_in_once"),
        ]

    def __str__(self) -> str:
        return self.name


class RuleAdoption(models.Model):
    """Which rule a benchmark's verdicts follow from a moment on; the newest row holds."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="+")
    rule = models.ForeignKey(GradingRule, on_delete=models.PROTECT, related_name="adoptions")
    adopted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    adopted_at = models.DateTimeField(default=timezone.now)


class Report(models.Model):
    """A computed report, kept under the digest of everything it was computed from."""

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="+")
    schema_version = models.PositiveSmallIntegerField()
    digest = models.CharField(max_length=64, unique=True)
    seed = models.BigIntegerField()
    code_version = models.CharField(max_length=64)
    content = models.JSONField()
    created_at = models.DateTimeField(default=timezone.now)
