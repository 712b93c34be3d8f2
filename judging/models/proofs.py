"""What each response's search for exemplars left out, and why: the proof that no case judged itself."""

from django.db import models
from django.db.models import F, Q

from annotation.models import Response
from judging.models.passes import JudgePass


class ExclusionProof(models.Model):
    """The labelled cases that were left out of the pool for one response in one pass.

    All judges of a pass share the search, so there is one row for a response. A case left out for
    several reasons counts under each, and once in `n_excluded`. `nearest` lists the nearest of them:
    response, similarity, label, reasons. Policy and limit are in the pass's configuration.
    """

    judge_pass = models.ForeignKey(JudgePass, on_delete=models.PROTECT, related_name="exclusion_proofs")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="+")
    n_pool = models.PositiveIntegerField()
    n_excluded = models.PositiveIntegerField()
    n_same_response = models.PositiveIntegerField()
    n_same_case = models.PositiveIntegerField()
    n_same_text = models.PositiveIntegerField()
    n_too_similar = models.PositiveIntegerField()
    nearest = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["judge_pass", "response"], name="exclusion_proof_once"),
            models.CheckConstraint(
                condition=Q(
                    n_excluded__lte=F("n_pool"),
                    n_same_response__lte=F("n_excluded"),
                    n_same_case__lte=F("n_excluded"),
                    n_same_text__lte=F("n_excluded"),
                    n_too_similar__lte=F("n_excluded"),
                ),
                name="exclusion_proof_counts_fit",
            ),
        ]
