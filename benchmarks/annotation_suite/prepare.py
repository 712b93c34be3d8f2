"""`python -m benchmarks.annotation_suite.prepare`: tables, 2,000 items of 2 kB, and people who are signed in.

Prints {"start": address of the next item, "sessions": [cookie, ...]}.
"""

import json
import sys
from typing import TYPE_CHECKING

import django

if TYPE_CHECKING:
    from annotation.models import Campaign

SLUG = "bench"
N_ITEMS = 2_000
ITEM_BYTES = 2_000
N_PEOPLE = 9
"""One who works alone, then eight beside each other."""
N_LABELS = 3
N_CATEGORIES = 12
SENTENCE = "Listen first, name what you noticed, and agree on the next small step together. "


def main() -> int:
    django.setup()
    print(json.dumps(prepare()), flush=True)
    return 0


def prepare() -> dict[str, object]:
    """Make everything in an empty database."""
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connection
    from django.urls import reverse

    from tests.annotation.desk import join
    from tests.conftest import signed_in

    call_command("migrate", verbosity=0)
    campaign = make_campaign_of_items()
    accounts = [join(campaign).account for _ in range(N_PEOPLE)]
    cookies = [signed_in(account).cookies[settings.SESSION_COOKIE_NAME] for account in accounts if account]
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    start = reverse("annotation:next", kwargs={"campaign_id": campaign.public_id})
    return {"start": start, "sessions": [cookie.value for cookie in cookies]}


def make_campaign_of_items() -> "Campaign":
    """A campaign whose every item has its own text, with categories from grave to mild."""
    from annotation.choices import CampaignState, ResponseState, Scale
    from annotation.models import LEAST_MILD, MOST_MILD, CampaignItem, Prompt, Response
    from tests.factories import (
        make_benchmark,
        make_campaign,
        make_mildness,
        make_target_model,
        sha256_of,
    )

    benchmark, model = make_benchmark(slug=SLUG), make_target_model()
    categories = [f"Theme {number}" for number in range(N_CATEGORIES)]
    prompts = Prompt.objects.bulk_create(
        Prompt(
            benchmark=benchmark,
            case_uid=f"case-{number:05}",
            risk_category=categories[number % N_CATEGORIES],
            text=f"My child asks {number} questions a day about chatbots. How do I answer kindly?",
        )
        for number in range(N_ITEMS)
    )
    texts = [(f"Answer {number}. " + SENTENCE * 40)[:ITEM_BYTES] for number in range(N_ITEMS)]
    responses = Response.objects.bulk_create(
        Response(
            prompt=prompt,
            target_model=model,
            rollout=0,
            state=ResponseState.OK,
            text=text,
            text_hash=sha256_of(text),
        )
        for prompt, text in zip(prompts, texts, strict=True)
    )
    campaign = make_campaign(
        benchmark=benchmark,
        scale=Scale.BINARY,
        state=CampaignState.OPEN,
        labels_per_response=N_LABELS,
        break_after_minutes=None,
        break_after_grave=None,
    )
    for number, category in enumerate(categories):
        make_mildness(
            campaign=campaign, risk_category=category, mildness=(LEAST_MILD, 3, MOST_MILD)[number % 3]
        )
    CampaignItem.objects.bulk_create(
        CampaignItem(campaign=campaign, response=response) for response in responses
    )
    return campaign


if __name__ == "__main__":
    sys.exit(main())
