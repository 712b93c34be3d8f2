"""Passes: frozen configurations and their budgets."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models import Benchmark, new_public_id, one_of
from judging.choices import PassKind, PassSource, PassState, PauseReason, RubricScale
from judging.models.judges import Judge, Rubric


class JudgePass(models.Model):
    """One frozen configuration over a set of responses (or, when collecting, of prompts).

    `configuration` holds everything that affects a score; `digest` is its SHA-256. Costs are whole
    millionths of a dollar, since sums of floats drift.
    """

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=16, choices=PassKind.choices, default=PassKind.JUDGING)
    source = models.CharField(max_length=16, choices=PassSource.choices)
    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, null=True, related_name="passes")
    scale = models.CharField(max_length=16, choices=RubricScale.choices, default=RubricScale.LIKERT)
    judges = models.ManyToManyField(Judge, related_name="passes")
    configuration = models.JSONField(default=dict)
    digest = models.CharField(max_length=64)
    is_simulated = models.BooleanField(default=False)
    state = models.CharField(max_length=16, choices=PassState.choices, default=PassState.READY)
    pause_reason = models.CharField(max_length=16, choices=PauseReason.choices, null=True, blank=True)
    state_note = models.TextField(null=True, blank=True)
    max_calls = models.PositiveIntegerField(null=True, blank=True)
    max_cost_micros = models.PositiveBigIntegerField(null=True, blank=True)
    n_calls_reserved = models.PositiveIntegerField(default=0)
    cost_reserved_micros = models.PositiveBigIntegerField(default=0)
    cost_settled_micros = models.PositiveBigIntegerField(default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="pass_name_once"),
            # Start pressed twice makes one run.
            models.UniqueConstraint(
                fields=["benchmark", "digest"],
                condition=Q(source="JUDGED", state__in=["READY", "RUNNING", "PAUSED"]),
                name="pass_once_while_active",
            ),
            one_of("state", PassState, name="pass_state_known"),
            one_of("kind", PassKind, name="pass_kind_known"),
            one_of("source", PassSource, name="pass_source_known"),
            one_of("scale", RubricScale, name="pass_scale_known"),
            models.CheckConstraint(
                condition=Q(state="PAUSED", pause_reason__isnull=False, pause_reason__in=PauseReason.values)
                | (~Q(state="PAUSED") & Q(pause_reason=None)),
                name="pass_paused_has_reason",
            ),
        ]

    def __str__(self) -> str:
        return self.name
