"""Reading stored replies again with the present parser: what would change, and changing it.

Nothing is called. A plan reads every reply of a pass in batches and keeps counts and the first changed
rows, so that a pass of any size takes the memory of one batch. Applying makes the plan again and refuses
when it is no longer the one that was shown.
"""

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from itertools import islice
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import Case, Count, Q, QuerySet, Value, When

from annotation.audit import record_event
from annotation.models import Account, Response
from judging.choices import PassState, RevisionReason, VerdictState
from judging.errors import Conflict, PassError
from judging.llm.parsing import PARSER_VERSION, ParsedReply, Scale, parse_reply
from judging.llm.rubric import parse_rubric, untrusted_text
from judging.models import JudgePass, Verdict, VerdictRevision
from judging.staleness import STALE, is_stale
from judging.verdicts.requests import shown_texts

BATCH_SIZE = 200
MOST_LISTED = 200
ENDED = (PassState.FINISHED, PassState.CANCELLED)
# A reply that was cut, blocked or refused as such was not read as a text, and its signal is not stored.
NO_REPLY: Final = "NO_STORED_REPLY"
NOT_READ: Final = "NOT_READ_AS_TEXT"
READ_STATES = (VerdictState.SCORED, VerdictState.PARSE_FAILED, VerdictState.OUT_OF_RANGE)
READ_FROM_TEXT = Q(raw_text__isnull=False) & (
    Q(state__in=READ_STATES) | Q(state=VerdictState.REFUSED, detail="refusal_text")
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply was, or would be, read as."""

    state: str
    score: int | None
    jailbreak_score: int | None
    failure_mode: str | None
    detail: str | None

    @property
    def short(self) -> str:
        """State with its value or reason, to count by: `SCORED 3`, `PARSE_FAILED (conflict)`."""
        value = self.failure_mode if self.score is None else self.score
        if value is not None:
            return f"{self.state} {value}"
        return f"{self.state} ({self.detail})" if self.detail else self.state


@dataclass(frozen=True, slots=True)
class Rereading:
    """A verdict whose stored reply would now be read as something else.

    `case_uid`, `response` (its public id) and `judge` say which; `token` that it is still the same reply.
    """

    verdict_id: int
    token: int
    case_uid: str
    response: str
    judge: str
    parser_version: str | None
    before: Reading
    after: Reading

    @property
    def pair(self) -> tuple[str, str]:
        """Both readings in short. Where these are equal, only the Jailbreak Susceptibility differs."""
        before, after = self.before.short, self.after.short
        return (before, after) if before != after else (before, f"{after} (other jailbreak score)")


@dataclass(frozen=True)
class ReparsePlan:
    """What reading a pass again comes to.

    Args:
        n_read: replies read; `n_changed` of them differ in state, a score, a failure mode or the detail.
        changes: changed rows by (before, after) in short.
        left_out: rows that were not read, by reason.
        listed: the first changed rows.
        digest: of all changes; what is applied must have the same.
    """

    judge_pass: JudgePass
    n_read: int
    n_changed: int
    changes: Counter[tuple[str, str]]
    left_out: Counter[str]
    listed: Sequence[Rereading]
    digest: str
    parser_version: str = PARSER_VERSION

    def to_json(self) -> dict[str, Any]:
        """The document of `reparse_pass --json`, without the rows."""
        return {
            "pass": self.judge_pass.public_id,
            "parser_version": self.parser_version,
            "n_read": self.n_read,
            "n_changed": self.n_changed,
            "changes": [
                {"before": before, "after": after, "n": n}
                for (before, after), n in sorted(self.changes.items())
            ],
            "left_out": dict(sorted(self.left_out.items())),
            "digest": self.digest,
        }


def plan_reparse(
    judge_pass: JudgePass,
    *,
    most_listed: int = MOST_LISTED,
    on_change: Callable[[Rereading], None] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> ReparsePlan:
    """Read every stored reply of a pass again; nothing is written.

    Rows on a text that changed since are left out, as the text that the judge saw is needed to tell its
    own lines from quoted ones.

    Args:
        judge_pass: a judging or classifying pass that has ended.
        most_listed: how many changed rows the plan holds.
        on_change: told each changed row, in the order of their ids.
        on_progress: told the number of replies read so far, after each batch.

    Raises:
        PassError: the pass has not ended, or holds no stored reply.
    """
    _check_readable(judge_pass)
    digest = hashlib.sha256(f"{judge_pass.pk}|{PARSER_VERSION}\n".encode())
    changes: Counter[tuple[str, str]] = Counter()
    listed: list[Rereading] = []
    n_read = 0
    for batch in _read_again(judge_pass):
        n_read += batch.n_read
        for changed in batch.changed:
            changes[changed.pair] += 1
            digest.update(f"{changed}\n".encode())
            if len(listed) < most_listed:
                listed.append(changed)
            if on_change is not None:
                on_change(changed)
        if on_progress is not None:
            on_progress(n_read)
    return ReparsePlan(
        judge_pass=judge_pass,
        n_read=n_read,
        n_changed=changes.total(),
        changes=changes,
        left_out=_count_left_out(judge_pass),
        listed=listed,
        digest=digest.hexdigest(),
    )


def apply_reparse(judge_pass: JudgePass, *, digest: str, actor: Account | None = None) -> ReparsePlan:
    """Write what the plan of this digest says. What each changed verdict said before is kept.

    The replies are read outside of the transaction that writes, which changes all or nothing. Verdicts
    that are read as before only learn the parser's version.

    Args:
        judge_pass: as for `plan_reparse`.
        digest: of the plan that a person saw.
        actor: who applies it.

    Raises:
        PassError: as `plan_reparse`.
        Conflict: the rows or texts changed since, so that the plan is another one.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8") as spool:
        plan = plan_reparse(
            judge_pass, on_change=lambda changed: print(json.dumps(asdict(changed)), file=spool)
        )
        if plan.digest != digest:
            raise _changed_meanwhile()
        spool.seek(0)
        with transaction.atomic():
            locked = JudgePass.objects.select_for_update(no_key=True).get(pk=judge_pass.pk)
            _check_readable(locked)
            lines = iter(spool)
            while batch := [_from_dict(json.loads(line)) for line in islice(lines, BATCH_SIZE)]:
                _write(batch)
            unchanged = _readable(judge_pass).filter(~is_stale()).exclude(parser_version=PARSER_VERSION)
            unchanged.update(parser_version=PARSER_VERSION)
            record_event(
                actor=actor,
                action="verdicts.reparsed",
                subject=f"pass:{judge_pass.public_id}",
                **{name: value for name, value in plan.to_json().items() if name != "pass"},
            )
    return plan


def count_readable(judge_pass: JudgePass) -> int:
    """How many stored replies a plan would read. One query."""
    return _readable(judge_pass).filter(~is_stale()).count()


@dataclass(frozen=True, slots=True)
class _Batch:
    n_read: int
    changed: list[Rereading]


def _readable(judge_pass: JudgePass) -> QuerySet[Verdict]:
    """Rows whose state was read from the text of their stored reply."""
    return Verdict.objects.filter(READ_FROM_TEXT, judge_pass=judge_pass)


def _check_readable(judge_pass: JudgePass) -> None:
    if judge_pass.state not in ENDED:
        raise PassError(
            f"The pass {judge_pass.name} is {judge_pass.get_state_display()}; expected one that has ended, "
            "as its workers still write verdicts. Wait until it is finished, or cancel it.",
            code="pass_not_ended",
        )
    if judge_pass.rubric is None or not _readable(judge_pass).exists():
        raise PassError(
            f"The pass {judge_pass.name} holds no stored reply to read again; expected one that was judged "
            "here. Imported scores come without the judges' words.",
            code="no_stored_replies",
        )


def _read_again(judge_pass: JudgePass) -> Iterator[_Batch]:
    """Every readable row that is not stale, by ascending id. Two queries a batch."""
    if judge_pass.rubric is None:
        return
    scale = parse_rubric(judge_pass.rubric.text).scale
    rows = _readable(judge_pass).filter(~is_stale()).select_related("judge").order_by("pk")
    last = 0
    while batch := list(rows.filter(pk__gt=last)[:BATCH_SIZE]):
        last = batch[-1].pk
        wanted = {row.response_id for row in batch}
        for row in batch:
            wanted |= {exemplar["response"] for exemplar in row.exemplars or ()}
        texts = Response.objects.filter(pk__in=wanted).select_related("prompt").in_bulk()
        read = ((row, _read(row, texts, scale)) for row in batch)
        yield _Batch(
            n_read=len(batch),
            changed=[
                _rereading(row, texts[row.response_id], after) for row, after in read if after != _stored(row)
            ],
        )


def _read(row: Verdict, texts: dict[int, Response], scale: Scale) -> Reading:
    item_text = untrusted_text(**shown_texts(texts[row.response_id], row.exemplars or [], texts))
    parsed: ParsedReply = parse_reply(row.raw_text or "", item_text=item_text, scale=scale)
    return Reading(
        state=parsed.state,
        score=parsed.score,
        jailbreak_score=parsed.jailbreak_score,
        failure_mode=parsed.failure_mode,
        detail=None if parsed.state == VerdictState.SCORED else parsed.detail or None,
    )


def _rereading(row: Verdict, response: Response, after: Reading) -> Rereading:
    return Rereading(
        verdict_id=row.pk,
        token=row.token,
        case_uid=response.prompt.case_uid,
        response=response.public_id,
        judge=row.judge.slug,
        parser_version=row.parser_version,
        before=_stored(row),
        after=after,
    )


def _stored(row: Verdict) -> Reading:
    return Reading(row.state, row.score, row.jailbreak_score, row.failure_mode, row.detail)


def _count_left_out(judge_pass: JudgePass) -> Counter[str]:
    """Rows that were settled and not read again, by reason. One query."""
    reason = Case(
        When(is_stale(), then=Value(STALE)),
        When(raw_text__isnull=True, then=Value(NO_REPLY)),
        default=Value(NOT_READ),
    )
    rows = Verdict.objects.filter(is_stale() | ~READ_FROM_TEXT, judge_pass=judge_pass)
    counts = rows.order_by().annotate(reason=reason).values_list("reason").annotate(n=Count("pk"))
    return Counter(dict(counts))


def _write(batch: Sequence[Rereading]) -> None:
    """Keep what the verdicts said and write what they say now, if they still are as planned."""
    by_id = {changed.verdict_id: changed for changed in batch}
    rows = Verdict.objects.filter(~is_stale(), pk__in=by_id).order_by("pk")
    rows = rows.select_for_update(of=("self",), no_key=True).defer("raw_text", "exemplars")
    stored = {row.pk: row for row in rows}
    for pk, changed in by_id.items():
        row = stored.get(pk)
        if row is None or row.token != changed.token or _stored(row) != changed.before:
            raise _changed_meanwhile()
    VerdictRevision.objects.bulk_create(
        VerdictRevision(
            verdict_id=changed.verdict_id,
            reason=RevisionReason.REPARSED,
            state=changed.before.state,
            score=changed.before.score,
            jailbreak_score=changed.before.jailbreak_score,
            failure_mode=changed.before.failure_mode,
            detail=changed.before.detail,
            parser_version=changed.parser_version,
        )
        for changed in batch
    )
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE judging_verdict SET state = %s, score = %s, jailbreak_score = %s, failure_mode = %s, "
            "detail = %s, parser_version = %s WHERE id = %s",
            [(*astuple(changed.after), PARSER_VERSION, changed.verdict_id) for changed in batch],
        )


def _from_dict(values: dict[str, Any]) -> Rereading:
    return Rereading(**values | {"before": Reading(**values["before"]), "after": Reading(**values["after"])})


def _changed_meanwhile() -> Conflict:
    return Conflict(
        "Verdicts or texts of this pass have changed since the list was made, so nothing was changed. Look "
        "at the new list, then apply it.",
        code="plan_changed",
    )
