"""How reliably people answer, for researchers: training, gold items, repeats, and active reading time.

None of it is counted in agreement, and none of it is shown to the people it is about. Erased answers are
left out. Times describe how the work goes; they are no measure of anybody's worth and never a target.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from django.db.models import Count, F, OuterRef, Q, Subquery

from annotation.choices import ItemKind, Rating
from annotation.models import Annotator, Assignment, Campaign, Label, Membership

ONE_DAY = dt.timedelta(days=1)
ONE_MS = dt.timedelta(milliseconds=1)


@dataclass(frozen=True)
class ExpectedAnswers:
    """Current answers to items whose answer is known: how many, and how many as expected."""

    n: int = 0
    n_right: int = 0

    def __add__(self, other: "ExpectedAnswers") -> "ExpectedAnswers":
        return ExpectedAnswers(self.n + other.n, self.n_right + other.n_right)


@dataclass(frozen=True)
class RepeatedAnswers:
    """Items that people answered twice without being told; `days` has the days between, ascending."""

    n: int = 0
    n_equal: int = 0
    days: tuple[float, ...] = ()

    @property
    def median_days(self) -> float | None:
        """Days between the two answers, half below and half above; None without any."""
        return median(self.days) if self.days else None

    def __add__(self, other: "RepeatedAnswers") -> "RepeatedAnswers":
        return RepeatedAnswers(
            self.n + other.n, self.n_equal + other.n_equal, tuple(sorted(self.days + other.days))
        )


@dataclass(frozen=True)
class ReadingTime:
    """How long current answers took: with the page in use, and with it open but idle.

    Idle time is known of first answers only, as a changed answer says nothing of when the page was left.
    """

    n_timed: int
    n_untimed: int
    median_active_ms: float | None
    median_idle_ms: float | None


@dataclass(frozen=True)
class AnnotatorQuality:
    """One person's row. `training_round` is 1 unless they began training again."""

    annotator: Annotator
    trained_at: dt.datetime | None
    training_round: int
    training: ExpectedAnswers
    gold: ExpectedAnswers
    repeats: RepeatedAnswers
    time: ReadingTime


@dataclass(frozen=True)
class CampaignQuality:
    """Every person's row by code, and the same of all together: sums, and medians over all answers."""

    annotators: tuple[AnnotatorQuality, ...]
    training: ExpectedAnswers
    gold: ExpectedAnswers
    repeats: RepeatedAnswers
    time: ReadingTime


@dataclass(frozen=True)
class ExpectedItem:
    """A training or gold item: what is expected, and what people answered at present."""

    item_id: str
    response_id: str
    kind: ItemKind
    expected: Rating
    answers: ExpectedAnswers


@dataclass(frozen=True)
class _TimedAnswer:
    active_ms: int | None
    idle_ms: float | None


def quality_of(campaign: Campaign) -> CampaignQuality:
    """Training, gold, repeats and reading time of everybody in the campaign. Four queries.

    People without answers have zeros. Anonymous labels, and those of people who are not in the campaign,
    are of no one here and left out.
    """
    members = list(
        Membership.objects.filter(campaign=campaign)
        .select_related("annotator")
        .order_by("annotator__code", "annotator")
    )
    expected = _expected_answers(campaign)
    repeats = _repeated_answers(campaign)
    times = _timed_answers(campaign)
    rows = tuple(
        AnnotatorQuality(
            annotator=member.annotator,
            trained_at=member.trained_at,
            training_round=member.training_round,
            training=expected.get((member.annotator_id, ItemKind.TRAINING), ExpectedAnswers()),
            gold=expected.get((member.annotator_id, ItemKind.GOLD), ExpectedAnswers()),
            repeats=repeats.get(member.annotator_id, RepeatedAnswers()),
            time=_reading_time(times[member.annotator_id]),
        )
        for member in members
    )
    return CampaignQuality(
        annotators=rows,
        training=sum((row.training for row in rows), ExpectedAnswers()),
        gold=sum((row.gold for row in rows), ExpectedAnswers()),
        repeats=sum((row.repeats for row in rows), RepeatedAnswers()),
        time=_reading_time([answer for member in members for answer in times[member.annotator_id]]),
    )


def expected_items(campaign: Campaign) -> list[ExpectedItem]:
    """Training and gold items with what people answered, training first, in the order added. One query.

    An item that most people answer otherwise is worth a second look: the expectation may be wrong.
    """
    is_answer = Q(labels__is_current=True, labels__annotator__isnull=False)
    rows = (
        campaign.items.filter(expected_rating__isnull=False)
        .annotate(
            n=Count("labels", filter=is_answer),
            n_right=Count("labels", filter=is_answer & Q(labels__rating=F("expected_rating"))),
        )
        .order_by("-kind", "pk")
        .values_list("public_id", "response__public_id", "kind", "expected_rating", "n", "n_right")
    )
    return [
        ExpectedItem(item_id, response_id, ItemKind(kind), Rating(str(expected)), ExpectedAnswers(n, n_right))
        for item_id, response_id, kind, expected, n, n_right in rows
    ]


def _expected_answers(campaign: Campaign) -> dict[tuple[int, str], ExpectedAnswers]:
    """By person and kind of item."""
    rows = (
        Label.objects.filter(
            item__campaign=campaign,
            item__expected_rating__isnull=False,
            annotator__isnull=False,
            is_current=True,
        )
        .order_by()
        .values_list("annotator", "item__kind")
        .annotate(n=Count("pk"), n_right=Count("pk", filter=Q(rating=F("item__expected_rating"))))
    )
    return {(annotator, kind): ExpectedAnswers(n, n_right) for annotator, kind, n, n_right in rows}


def _repeated_answers(campaign: Campaign) -> dict[int | None, RepeatedAnswers]:
    """By person: the answer to the repeat beside the one that stood for the first showing at that time.

    What is changed in the first answer after the repeat was answered does not count, and a repeat whose
    first answer had been taken back by then is left out.
    """
    rows = Label.objects.filter(
        Q(item__repeats__isnull=False) | Q(item__repeated__isnull=False),
        item__campaign=campaign,
        annotator__isnull=False,
        erased_at=None,
    ).order_by("pk")
    revisions: dict[tuple[int | None, int], list[Label]] = defaultdict(list)
    first_showing: dict[int, int] = {}
    for label in rows.select_related("item").only(
        "annotator", "rating", "is_current", "created_at", "item__repeats"
    ):
        revisions[label.annotator_id, label.item_id].append(label)
        if label.item.repeats_id is not None:
            first_showing[label.item_id] = label.item.repeats_id
    by_person: dict[int | None, RepeatedAnswers] = defaultdict(RepeatedAnswers)
    for (annotator_id, item_id), repeat in revisions.items():
        if item_id in first_showing:
            first = revisions.get((annotator_id, first_showing[item_id]), [])
            by_person[annotator_id] += _compare(first, repeat)
    return dict(by_person)


def _compare(first: Sequence[Label], repeat: Sequence[Label]) -> RepeatedAnswers:
    """One person's revisions of the first showing and of the repeat, each in order."""
    now = next((label for label in repeat if label.is_current), None)
    before = [label for label in first if label.pk < repeat[0].pk]
    if now is None or not before or before[-1].rating is None:
        return RepeatedAnswers()
    stood = before[-1]
    days = (repeat[0].created_at - stood.created_at) / ONE_DAY
    return RepeatedAnswers(n=1, n_equal=int(stood.rating == now.rating), days=(days,))


def _timed_answers(campaign: Campaign) -> dict[int, list[_TimedAnswer]]:
    """By person, the times of their current answers to other than training items."""
    shown = Assignment.objects.filter(item=OuterRef("item"), annotator=OuterRef("annotator"))
    rows = (
        Label.objects.filter(
            item__campaign=campaign, annotator__isnull=False, is_current=True, is_imported=False
        )
        .exclude(item__kind=ItemKind.TRAINING)
        .annotate(shown_at=Subquery(shown.values("first_shown_at")))
        .values_list("annotator", "active_ms", "revision", "created_at", "shown_at")
    )
    answers: dict[int, list[_TimedAnswer]] = defaultdict(list)
    for annotator_id, active_ms, revision, created_at, shown_at in rows:
        idle_ms = None
        if active_ms is not None and shown_at is not None and revision == 1:
            idle_ms = max((created_at - shown_at) / ONE_MS - active_ms, 0.0)
        answers[annotator_id].append(_TimedAnswer(active_ms, idle_ms))
    return answers


def _reading_time(answers: Iterable[_TimedAnswer]) -> ReadingTime:
    answers = list(answers)
    active = [answer.active_ms for answer in answers if answer.active_ms is not None]
    idle = [answer.idle_ms for answer in answers if answer.idle_ms is not None]
    return ReadingTime(
        n_timed=len(active),
        n_untimed=len(answers) - len(active),
        median_active_ms=median(active) if active else None,
        median_idle_ms=median(idle) if idle else None,
    )
