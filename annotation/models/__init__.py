"""What people do: prompts, responses, campaigns and labels.

Validity that matters is a database constraint here. Missing is a state plus a null. Nothing in
this package knows of judges or verdicts.
"""

from annotation.models.audit import AuditEvent
from annotation.models.base import new_public_id, one_of
from annotation.models.campaigns import (
    GRAVE_UP_TO,
    LEAST_MILD,
    MOST_MILD,
    USUAL_MILDNESS,
    Campaign,
    CampaignItem,
    CampaignText,
    CategoryMildness,
    TypeQuota,
)
from annotation.models.labels import (
    FIRST_SEVERITY,
    LAST_SEVERITY,
    Adjudication,
    Assignment,
    Draft,
    Flag,
    Label,
)
from annotation.models.material import (
    Account,
    Benchmark,
    Prompt,
    Response,
    ResponseRevision,
    TargetModel,
)
from annotation.models.people import (
    RESERVED_CODE,
    Annotator,
    CategoryOptOut,
    Consent,
    Invitation,
    Membership,
)

__all__ = [
    "FIRST_SEVERITY",
    "GRAVE_UP_TO",
    "LAST_SEVERITY",
    "LEAST_MILD",
    "MOST_MILD",
    "RESERVED_CODE",
    "USUAL_MILDNESS",
    "Account",
    "Adjudication",
    "Annotator",
    "Assignment",
    "AuditEvent",
    "Benchmark",
    "Campaign",
    "CampaignItem",
    "CampaignText",
    "CategoryMildness",
    "CategoryOptOut",
    "Consent",
    "Draft",
    "Flag",
    "Invitation",
    "Label",
    "Membership",
    "Prompt",
    "Response",
    "ResponseRevision",
    "TargetModel",
    "TypeQuota",
    "new_public_id",
    "one_of",
]
