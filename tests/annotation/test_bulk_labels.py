"""Labels from files in bulk, and which labels count."""

import pytest
from django.db import IntegrityError, transaction

from annotation.campaigns import imported_campaign
from annotation.choices import AnnotatorType, ItemKind, Rating
from annotation.labelling import ImportedLabel, import_labels
from annotation.models import Annotator, AuditEvent, Benchmark, Campaign, CampaignItem, Label, Response
from annotation.selectors import current_labels
from tests.factories import make_annotator, make_benchmark, make_item, make_label, make_prompt, make_response

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark() -> Benchmark:
    return make_benchmark()


@pytest.fixture
def campaign(benchmark: Benchmark) -> Campaign:
    return imported_campaign(benchmark)


@pytest.fixture
def response(benchmark: Benchmark) -> Response:
    return make_response(prompt=make_prompt(benchmark=benchmark))


def row(
    response: Response, annotator: Annotator | None = None, rating: Rating = Rating.ACCEPTABLE
) -> ImportedLabel:
    return ImportedLabel(
        response_id=response.pk,
        annotator=annotator,
        rating=rating,
        rating_raw="Yes",
        severity=2,
        annotator_type=AnnotatorType.OTHER,
        annotator_type_raw="teacher",
    )


def test_rows_keep_the_words_of_the_file(campaign: Campaign, response: Response) -> None:
    n_stored = import_labels(campaign=campaign, rows=[row(response)])

    label = Label.objects.get()
    assert n_stored == 1
    assert (label.rating_raw, label.annotator_type_raw, label.severity) == ("Yes", "teacher", 2)
    assert (label.is_imported, label.is_current, label.item.response) == (True, True, response)


def test_rows_of_one_response_share_an_item(campaign: Campaign, response: Response) -> None:
    annotator = make_annotator(benchmark=campaign.benchmark)
    import_labels(campaign=campaign, rows=[row(response), row(response)])

    import_labels(campaign=campaign, rows=[row(response, annotator)])

    assert CampaignItem.objects.count() == 1
    assert Label.objects.count() == 3


def test_import_leaves_a_trace_with_the_count(campaign: Campaign, response: Response) -> None:
    import_labels(campaign=campaign, rows=[row(response)])

    event = AuditEvent.objects.get(action="labels.imported")
    assert (event.subject, event.detail) == (f"campaign:{campaign.public_id}", {"n_labels": 1})


def test_second_label_of_one_annotator_on_one_response_is_refused_whole(
    campaign: Campaign, response: Response
) -> None:
    annotator = make_annotator(benchmark=campaign.benchmark)
    rows = [row(response), row(response, annotator), row(response, annotator, Rating.UNACCEPTABLE)]

    with pytest.raises(IntegrityError), transaction.atomic():
        import_labels(campaign=campaign, rows=rows)

    assert not Label.objects.exists()
    assert not AuditEvent.objects.exists()


def test_only_current_labels_of_regular_items_count(benchmark: Benchmark) -> None:
    counted = make_label(item=make_item(response=make_response(prompt=make_prompt(benchmark=benchmark))))
    gold = make_item(response=make_response(prompt=make_prompt(benchmark=benchmark)), kind=ItemKind.GOLD)
    make_label(item=gold)
    make_label(is_current=False, item=counted.item)
    make_label()

    assert list(current_labels(benchmark)) == [counted]
    assert list(current_labels(benchmark, campaign=counted.item.campaign)) == [counted]
    assert not current_labels(benchmark, campaign=gold.campaign).exists()
