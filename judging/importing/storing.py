"""Storing of a whole import: content, labels and scores in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from annotation.audit import record_event
from annotation.importing.content import Content
from annotation.importing.labels import LabelPlan
from annotation.importing.writing import write_content, write_labels
from annotation.models import Account, AuditEvent, Benchmark
from judging.errors import Conflict
from judging.importing.scores import ScorePlan
from judging.llm.endpoints import load_endpoints
from judging.models import Judge
from judging.passes.imported import imported_pass
from judging.verdicts.imported import ImportedVerdict, record_imported

IMPORT_ACTION = "files.imported"
MAX_SHORT_NAME_LENGTH = 50


class OtherImport(Conflict):
    """Another import into the benchmark was stored while this one was planned."""

    code = "import_conflict"

    def __init__(self) -> None:
        super().__init__(
            "Another import stored rows of this benchmark meanwhile; nothing of this one was stored. Import "
            "again: rows that are there already count as unchanged."
        )


@dataclass(frozen=True)
class ImportPlan:
    """What would be stored. `last_import` is the newest import that the plan knows of."""

    content: Content
    labels: LabelPlan
    scores: ScorePlan
    last_import: int | None


def find_last_import(benchmark: Benchmark) -> int | None:
    """Id of the audit event of the newest import into the benchmark. One query."""
    events = AuditEvent.objects.filter(subject=_subject(benchmark), action=IMPORT_ACTION)
    return events.order_by("-pk").values_list("pk", flat=True).first()


def _subject(benchmark: Benchmark) -> str:
    return f"benchmark:{benchmark.slug}"


def store_plan(
    plan: ImportPlan,
    *,
    actor: Account | None,
    pass_name: str,
    notices: Mapping[str, str],
    totals: Mapping[str, Mapping[str, int]],
) -> None:
    """Write all of a plan. Must run inside a transaction; locks the benchmark.

    Args:
        actor: who imports, for the audit.
        pass_name: the finished pass that judge scores go to.
        notices: fields of the benchmark to set.
        totals: counts of rows by kind, for the audit.

    Raises:
        OtherImport: another import was stored since the plan was made.
        IntegrityError: the same, seen by a constraint.
    """
    benchmark = plan.content.benchmark
    if benchmark.pk is None:
        benchmark.save()
    # One import of a benchmark at a time. Anonymous labels have no key that would refuse a second copy.
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    if find_last_import(benchmark) != plan.last_import:
        raise OtherImport
    _store_notices(benchmark, notices, actor=actor)
    write_content(plan.content)
    write_labels(plan.content, plan.labels, actor=actor)
    if plan.scores.new_scores:
        _store_scores(plan.scores, benchmark=benchmark, pass_name=pass_name)
    record_event(
        actor=actor,
        action=IMPORT_ACTION,
        subject=_subject(benchmark),
        totals=dict(totals),
        content=plan.content.totals(),
    )


def _store_notices(benchmark: Benchmark, notices: Mapping[str, str], *, actor: Account | None) -> None:
    changes = {
        name: {"from": getattr(benchmark, name), "to": value}
        for name, value in notices.items()
        if getattr(benchmark, name) != value
    }
    if not changes:
        return
    for name, value in notices.items():
        setattr(benchmark, name, value)
    benchmark.save(update_fields=list(changes))
    record_event(
        actor=actor, action="benchmark.notices_changed", subject=_subject(benchmark), changes=changes
    )


def _store_scores(plan: ScorePlan, *, benchmark: Benchmark, pass_name: str) -> None:
    created = Judge.objects.bulk_create(_new_judges(plan.new_judge_slugs))
    judges = plan.judges | {judge.slug: judge for judge in created}
    used = sorted({score.judge_slug for score in plan.new_scores})
    judge_pass = imported_pass(benchmark, name=pass_name, judges=[judges[slug] for slug in used])
    record_imported(
        judge_pass=judge_pass,
        verdicts=[
            ImportedVerdict(
                response_id=score.response.pk,
                text_hash=score.response.text_hash,
                judge_id=judges[score.judge_slug].pk,
                **asdict(score.reading),
            )
            for score in plan.new_scores
        ],
    )


def _new_judges(slugs: Sequence[str]) -> list[Judge]:
    """Judges as the presets name them; one that no preset knows goes by its slug."""
    presets = {model.slug: model for endpoint in load_endpoints(None).values() for model in endpoint.models}
    judges = []
    for slug in slugs:
        known = presets.get(slug)
        judges.append(
            Judge(
                slug=slug,
                short_name=(known.short_name if known else slug)[:MAX_SHORT_NAME_LENGTH],
                family=(known.family or None) if known else None,
            )
        )
    return judges
