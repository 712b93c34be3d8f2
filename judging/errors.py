"""Errors of judging, reports and exports. All are `DomainError`s with a stable code."""

from annotation.errors import Conflict, DomainError, Gone, NotAllowed

__all__ = [
    "Conflict",
    "DomainError",
    "EndpointError",
    "ExportError",
    "Gone",
    "NotAllowed",
    "PassError",
    "RubricError",
    "RuleError",
]


class RuleError(DomainError):
    """A grading rule that cannot be used: unknown kind, weights that do not sum to 1, ..."""

    code = "bad_rule"


class RubricError(DomainError):
    """A rubric text with unknown or missing placeholders."""

    code = "bad_rubric"


class EndpointError(DomainError):
    """An endpoints file that cannot be used, or an endpoint that it does not name."""

    code = "bad_endpoint"


class PassError(DomainError):
    """A pass that cannot be started, resumed or cancelled as asked."""

    code = "pass_refused"


class ExportError(DomainError):
    """An export that cannot be written in the asked format."""

    code = "export_refused"
