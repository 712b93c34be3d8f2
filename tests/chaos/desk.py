"""`python -m tests.chaos.desk N_ANNOTATORS N_LABELS`: a campaign over every response, and sessions for it.

Prints {"start": address of the next item, "sessions": [cookie, ...]}.
"""

import json
import os
import sys

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "carebench_web.settings")
    django.setup()
    print(json.dumps(prepare(n_annotators=int(sys.argv[1]), n_labels=int(sys.argv[2]))))


def prepare(*, n_annotators: int, n_labels: int) -> dict[str, object]:
    """Ask for `n_labels` labels of each response, from people who have consented and are signed in."""
    from django.conf import settings
    from django.urls import reverse

    from annotation.choices import CampaignState, Scale
    from annotation.models import Benchmark, CampaignItem, Response
    from tests.annotation.desk import join
    from tests.conftest import signed_in
    from tests.factories import make_campaign

    campaign = make_campaign(
        benchmark=Benchmark.objects.get(),
        scale=Scale.BINARY,
        state=CampaignState.OPEN,
        labels_per_response=n_labels,
        break_after_minutes=None,
        break_after_grave=None,
    )
    CampaignItem.objects.bulk_create(
        CampaignItem(campaign=campaign, response=response) for response in Response.objects.order_by("pk")
    )
    accounts = [join(campaign).account for _ in range(n_annotators)]
    cookies = [signed_in(account).cookies[settings.SESSION_COOKIE_NAME] for account in accounts if account]
    start = reverse("annotation:next", kwargs={"campaign_id": campaign.public_id})
    return {"start": start, "sessions": [cookie.value for cookie in cookies]}


if __name__ == "__main__":
    main()
