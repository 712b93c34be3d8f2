"""What judges do: judges, rubrics, passes, their rows and calls, rules and stored reports.

Foreign keys into `annotation` carry `related_name="+"`: from a prompt, a response or a label there
is no path to a verdict.
"""

from judging.models.embeddings import Embedding
from judging.models.gates import EndpointGate, SlotLease
from judging.models.judges import Judge, Rubric
from judging.models.passes import JudgePass
from judging.models.proofs import ExclusionProof
from judging.models.rows import (
    FIRST_SCORE,
    LAST_SCORE,
    Attempt,
    Generation,
    GenerationAttempt,
    QueueRow,
    Verdict,
    VerdictAttempt,
    VerdictRevision,
    row_class_of,
)
from judging.models.rules import GradingRule, Report, RuleAdoption

__all__ = [
    "FIRST_SCORE",
    "LAST_SCORE",
    "Attempt",
    "Embedding",
    "EndpointGate",
    "ExclusionProof",
    "Generation",
    "GenerationAttempt",
    "GradingRule",
    "Judge",
    "JudgePass",
    "QueueRow",
    "Report",
    "Rubric",
    "RuleAdoption",
    "SlotLease",
    "Verdict",
    "VerdictAttempt",
    "VerdictRevision",
    "row_class_of",
]
