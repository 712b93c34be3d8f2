"""Addresses of pages that several pages lead to."""

from django.urls import reverse

from annotation.models import Response
from judging.models import Verdict


def verdict_address(verdict: Verdict, response: Response | None = None) -> str:
    """The page of a verdict whose judge, pass and benchmark are loaded.

    Args:
        verdict: whose page.
        response: the one it is about, where the verdict has it not loaded.
    """
    return reverse(
        "judging:verdict",
        kwargs={
            "slug": verdict.judge_pass.benchmark.slug,
            "public_id": verdict.judge_pass.public_id,
            "response": (response or verdict.response).public_id,
            "judge": verdict.judge.slug,
        },
    )
