"""The finished pass that holds scores read from files."""

from collections.abc import Sequence

from django.utils import timezone

from annotation.models import Benchmark
from judging.choices import PassSource, PassState
from judging.errors import PassError
from judging.models import Judge, JudgePass
from judging.passes.configuration import digest_of


def imported_pass(benchmark: Benchmark, *, name: str, judges: Sequence[Judge]) -> JudgePass:
    """The finished pass called `name` that holds scores read from files; made on first use.

    Args:
        benchmark: whose responses were judged.
        name: `imported`, or the name the importer was given.
        judges: judges of the rows to come; they are added to the pass.

    Raises:
        PassError: a pass of that name was judged here.
    """
    configuration = {"source": "imported"}
    now = timezone.now()
    judge_pass, _ = JudgePass.objects.get_or_create(
        benchmark=benchmark,
        name=name,
        defaults={
            "source": PassSource.IMPORTED,
            "state": PassState.FINISHED,
            "configuration": configuration,
            "digest": digest_of(configuration),
            "is_simulated": benchmark.is_simulated,
            "started_at": now,
            "finished_at": now,
        },
    )
    if judge_pass.source != PassSource.IMPORTED:
        raise PassError(
            f"The pass {name!r} was judged here; imported scores cannot be added to it. Name another pass.",
            code="pass_not_imported",
        )
    judge_pass.judges.add(*judges)
    return judge_pass
