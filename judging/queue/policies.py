"""The deployer's numbers in a kind's retry policy."""

from dataclasses import replace

from django.conf import settings

from judging.llm.retrying import RetryPolicy


def as_configured(policy: RetryPolicy) -> RetryPolicy:
    """The policy of a kind of work with the settings' attempts and back-off."""
    return replace(
        policy,
        max_attempts=settings.MAX_ATTEMPTS,
        max_rate_limited=settings.MAX_RATE_LIMITED,
        backoff_base_s=settings.BACKOFF_FIRST_S,
        backoff_cap_s=settings.BACKOFF_MOST_S,
    )
