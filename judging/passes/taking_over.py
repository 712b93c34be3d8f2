"""A pass that goes on from another one: scores that still hold are taken over and not paid for again."""

from collections.abc import Mapping
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from annotation.models import Response
from judging.choices import VerdictState
from judging.errors import PassError
from judging.llm.parsing import PARSER_VERSION
from judging.models import JudgePass, Verdict
from judging.staleness import has_score

# What a pass that goes on is allowed to differ in: texts may have changed, and the program.
MAY_DIFFER = frozenset({"scope", "parser_version"})

# A score holds where its text is still the same. The judge saw the exemplars that come with it.
_TAKE_OVER = f"""
UPDATE judging_verdict AS fresh
SET state = old.state, score = old.score, jailbreak_score = old.jailbreak_score, raw_text = old.raw_text,
    parser_version = old.parser_version, exemplars = old.exemplars,
    n_exemplars_acceptable = old.n_exemplars_acceptable,
    n_exemplars_unacceptable = old.n_exemplars_unacceptable, settled_at = old.settled_at,
    taken_from_id = COALESCE(old.taken_from_id, old.id)
FROM judging_verdict AS old
WHERE fresh.judge_pass_id = %s AND fresh.state = '{VerdictState.PENDING}'
    AND old.judge_pass_id = %s AND old.response_id = fresh.response_id AND old.judge_id = fresh.judge_id
    AND old.text_hash = fresh.text_hash AND old.state = '{VerdictState.SCORED}'
"""


def responses_of(judge_pass: JudgePass) -> QuerySet[Response]:
    """The responses that a pass took up, with their prompts, oldest first."""
    judged = Verdict.objects.filter(judge_pass=judge_pass).values("response_id")
    return Response.objects.filter(pk__in=judged).select_related("prompt").order_by("pk")


def refuse_other_settings(continues: JudgePass, configuration: Mapping[str, Any]) -> None:
    """Check that a new pass would judge as the one that it goes on from.

    Args:
        continues: the earlier pass.
        configuration: of the new one.

    Raises:
        PassError: a setting differs, such as the exemplar pool after more labels; or scores were read by
            another parser.
    """
    frozen = continues.configuration
    differing = [
        name
        for name, value in configuration.items()
        if name not in MAY_DIFFER and frozen.get(name, value) != value
    ]
    if differing:
        raise PassError(
            f"{continues.name} was judged with other settings than a pass would be now "
            f"({', '.join(differing)}), so its scores cannot stand beside new ones. Start a new pass.",
            code="other_settings",
        )
    read_otherwise = Verdict.objects.filter(has_score(), judge_pass=continues, raw_text__isnull=False)
    n = read_otherwise.exclude(parser_version=PARSER_VERSION).count()
    if n:
        raise PassError(
            f"{n:,} scores of {continues.name} were read by another version of the parser than this "
            f"program's, {PARSER_VERSION}. Read the stored replies again first, on the page of the pass or "
            "with reparse_pass; that costs nothing.",
            code="other_parser",
        )


def take_over(judge_pass: JudgePass, continues: JudgePass) -> int:
    """Fill waiting rows from the scores of an earlier pass on the same texts. One statement.

    Must run inside the transaction that makes the rows.

    Returns:
        How many scores were taken over.
    """
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_OVER, [judge_pass.pk, continues.pk])
        return int(cursor.rowcount)
