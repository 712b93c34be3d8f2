"""Errors that a person can act on. Every interface turns them into its own shape."""


class DomainError(Exception):
    """A refusal with a stable code and a full sentence.

    The sentence says what was given, what was expected and the way out. Pages show it,
    the API returns it as `detail` beside `code`, commands print it and exit 1.
    """

    code = "domain_error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class NotAllowed(DomainError):
    """The person may not do this, whatever the state of the thing."""

    code = "not_allowed"


class Conflict(DomainError):
    """The thing changed meanwhile, or another value stands where this one would go."""

    code = "conflict"


class Gone(DomainError):
    """The thing existed and no longer does (a lease that ended, a closed campaign)."""

    code = "gone"
