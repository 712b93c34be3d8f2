"""What each judge was shown beside the case, and the proof that none of it was the case itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.models import Response
from annotation.templatetags.formatting import count_text, similarity_text
from judging.llm.embedding import TFIDF
from judging.llm.exemplars import MAX_SIMILARITY, ExemplarLeak
from judging.models import ExclusionProof, Verdict
from judging.stats.records import ACCEPTABLE, UNACCEPTABLE
from judging.verdicts.leaks import refuse_leak
from judging.views import listings
from judging.views.choosing import ReportChoice
from judging.views.tables import Cell, Column, Row, Table, text_column
from judging.views.wording import counted

SIMILARITY_HELP = "Cosine of the two texts' vectors: 1 is the same direction, 0 nothing in common"
REASON_WORDS = {
    "response": "itself",
    "case": "same case",
    "text": "same text",
    "similarity": "near copy",
}


@dataclass(frozen=True)
class ShownExemplars:
    """The exemplars of one verdict and why none of them is the case itself.

    `leak` is the reason why one of them may not have been shown, None when all is well. `excluded` and
    `left_out` are None where the pass kept no record of what it left out.
    """

    counts: str
    shown: Table | None
    source: str
    checked: str | None
    leak: str | None
    policy: str
    left_out: str | None
    excluded: Table | None


def show_exemplars(
    response: Response, verdicts: Sequence[Verdict], choice: ReportChoice
) -> dict[int, ShownExemplars]:
    """Of each verdict that had a pool to draw from, by its id. Two queries, however many verdicts."""
    proofs = {
        proof.judge_pass_id: proof
        for proof in ExclusionProof.objects.filter(response=response).order_by("pk")
    }
    wanted = {exemplar["response"] for verdict in verdicts for exemplar in verdict.exemplars or ()}
    wanted |= {excluded["response"] for proof in proofs.values() for excluded in proof.nearest}
    found = {one.pk: one for one in listings.listed_responses(sorted(wanted))}
    return {
        verdict.pk: _show(n, verdict, response, found, proofs.get(verdict.judge_pass_id), choice)
        for n, verdict in enumerate(verdicts, start=1)
        if verdict.exemplars is not None
    }


def _show(
    n: int,
    verdict: Verdict,
    response: Response,
    found: Mapping[int, Response],
    proof: ExclusionProof | None,
    choice: ReportChoice,
) -> ShownExemplars:
    exemplars: list[dict[str, Any]] = verdict.exemplars or []
    configuration = verdict.judge_pass.configuration
    leak = _find_leak(exemplars, response, found, configuration)
    return ShownExemplars(
        counts=_count(exemplars),
        shown=_exemplar_table(n, exemplars, found, choice) if exemplars else None,
        source=_source(configuration),
        checked=_checked(exemplars, response, configuration) if exemplars and leak is None else None,
        leak=leak,
        policy=_policy(configuration),
        left_out=_left_out(proof, configuration) if proof else None,
        excluded=_excluded_table(n, proof, found, choice) if proof and proof.nearest else None,
    )


def _find_leak(
    exemplars: Sequence[Mapping[str, Any]],
    response: Response,
    found: Mapping[int, Response],
    configuration: Mapping[str, Any],
) -> str | None:
    """What the check before sending says now."""
    try:
        refuse_leak(exemplars, response, found, configuration=configuration)
    except ExemplarLeak as leak:
        return str(leak)
    return None


def _count(exemplars: Sequence[Mapping[str, Any]]) -> str:
    if not exemplars:
        return "none was left to show"
    n_unacceptable = sum(bool(exemplar["unacceptable"]) for exemplar in exemplars)
    return f"{len(exemplars) - n_unacceptable} Acceptable, {n_unacceptable} Unacceptable"


def _source(configuration: Mapping[str, Any]) -> str:
    pool = configuration.get("pool") or {}
    size = f" of {count_text(pool['n'])} labelled responses" if "n" in pool else ""
    name = pool.get("embedder", TFIDF)
    vectors = "TF-IDF vectors" if name == TFIDF else f"vectors of {name} at {pool.get('embedder_endpoint')}"
    return f"The nearest of each kind in a pool{size}, by the cosine of {vectors}."


def _policy(configuration: Mapping[str, Any]) -> str:
    limit = similarity_text(_limit(configuration))
    case = "" if configuration.get("exclusion") == "response" else " answers the same case,"
    other = " Other responses to the same case could be shown." if not case else ""
    return (
        f"Never shown is a response that is this one,{case} has the same text under whatever id, or is a "
        f"near copy (similarity of {limit} or more).{other}"
    )


def _left_out(proof: ExclusionProof, configuration: Mapping[str, Any]) -> str:
    pool = counted(proof.n_pool, "labelled response")
    if not proof.n_excluded:
        return f"Of {pool} in the pool none had to be left out."
    reasons = (
        (proof.n_same_response, "is this response", "are this response"),
        (proof.n_same_case, "answers the same case", "answer the same case"),
        (proof.n_same_text, "has the same text", "have the same text"),
        (proof.n_too_similar, "is a near copy", "are near copies"),
    )
    words = [f"{count_text(n)} {one if n == 1 else many}" for n, one, many in reasons if n]
    several = ""
    if sum(n for n, _, _ in reasons) > proof.n_excluded:
        several = " One that has several reasons counts under each."
    verb = "was" if proof.n_excluded == 1 else "were"
    return (
        f"Of {pool} in the pool {count_text(proof.n_excluded)} {verb} left out: {', '.join(words)}.{several}"
    )


def _checked(
    exemplars: Sequence[Mapping[str, Any]], response: Response, configuration: Mapping[str, Any]
) -> str:
    case = (
        "" if configuration.get("exclusion") == "response" else f" answers case {response.prompt.case_uid},"
    )
    nearest = similarity_text(max(exemplar["similarity"] for exemplar in exemplars))
    return (
        f"Checked again for this page, from the texts as they are stored now: none of the {len(exemplars)} "
        f"is this response,{case} or has its text; the nearest has a similarity of {nearest}, below "
        f"{similarity_text(_limit(configuration))}."
    )


def _exemplar_table(
    n: int, exemplars: Sequence[Mapping[str, Any]], found: Mapping[int, Response], choice: ReportChoice
) -> Table:
    return Table(
        id=f"exemplars-{n}",
        caption="In the order shown",
        columns=[
            text_column("Case"),
            Column("Similarity", help=SIMILARITY_HELP),
            text_column("People say"),
            Column("Place"),
        ],
        rows=[
            Row(
                [
                    _case_cell(found.get(exemplar["response"]), choice),
                    Cell(exemplar["similarity"], kind="similarity"),
                    _label_cell(exemplar),
                    Cell(place, kind="count"),
                ]
            )
            for place, exemplar in enumerate(exemplars, start=1)
        ],
    )


def _excluded_table(
    n: int, proof: ExclusionProof, found: Mapping[int, Response], choice: ReportChoice
) -> Table:
    return Table(
        id=f"excluded-{n}",
        caption="The nearest of those left out",
        columns=[
            text_column("Case"),
            Column("Similarity", help=SIMILARITY_HELP),
            text_column("Why left out"),
            text_column("People say"),
        ],
        rows=[
            Row(
                [
                    _case_cell(found.get(excluded["response"]), choice),
                    Cell(excluded["similarity"], kind="similarity"),
                    Cell(", ".join(REASON_WORDS[reason] for reason in excluded["reasons"])),
                    _label_cell(excluded),
                ]
            )
            for excluded in proof.nearest
        ],
    )


def _case_cell(response: Response | None, choice: ReportChoice) -> Cell:
    if response is None:
        return Cell(None, reason="no longer stored")
    return Cell(response.prompt.case_uid, href=choice.address("response", public_id=response.public_id))


def _label_cell(case: Mapping[str, Any]) -> Cell:
    return Cell(UNACCEPTABLE if case["unacceptable"] else ACCEPTABLE, kind="verdict")


def _limit(configuration: Mapping[str, Any]) -> float:
    return float((configuration.get("pool") or {}).get("max_similarity", MAX_SIMILARITY))
