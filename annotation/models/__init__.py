"""What people do: prompts, responses, campaigns and labels.

Validity that matters is a database constraint here. Missing is a state plus a null. Nothing in
this package knows of judges or verdicts.
"""

from annotation.models.audit import AuditEvent
from annotation.models.base import new_public_id, one_of
from annotation.models.campaigns import Campaign, CampaignItem
from annotation.models.labels import FIRST_SEVERITY, LAST_SEVERITY, Assignment, Label
from annotation.models.material import (
    Account,
    Benchmark,
    Prompt,
    Response,
    ResponseRevision,
    TargetModel,
)
from annotation.models.people import RESERVED_CODE, Annotator, Consent, Membership

__all__ = [
    "FIRST_SEVERITY",
    "LAST_SEVERITY",
    "RESERVED_CODE",
    "Account",
    "Annotator",
    "Assignment",
    "AuditEvent",
    "Benchmark",
    "Campaign",
    "CampaignItem",
    "Consent",
    "Label",
    "Membership",
    "Prompt",
    "Response",
    "ResponseRevision",
    "TargetModel",
    "new_public_id",
    "one_of",
]
