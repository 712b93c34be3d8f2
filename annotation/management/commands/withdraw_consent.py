"""`manage.py withdraw_consent`: withdraw a person's consent for them, as the campaign declared."""

import dataclasses
import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.campaigns import Withdrawal, plan_withdrawal, withdraw_consent
from annotation.models import Annotator, Membership


class Command(BaseCommand):
    help = (
        "Withdraw a person's consent to a campaign, who asked for it elsewhere. Their answers are kept "
        "under the code or deleted, as the campaign declared. Without --yes it says what would happen."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--benchmark", required=True, help="slug of the benchmark")
        parser.add_argument("--campaign", required=True, help="slug of the campaign")
        parser.add_argument("--annotator", required=True, help="the person's code")
        parser.add_argument("--yes", action="store_true", help="do it; it cannot be undone")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        membership = _membership(options)
        campaign, annotator = membership.campaign, membership.annotator
        act = withdraw_consent if options["yes"] else plan_withdrawal
        withdrawal = act(campaign=campaign, annotator=annotator)
        if options["json"]:
            document = {"dry_run": not options["yes"], **dataclasses.asdict(withdrawal)}
            self.stdout.write(json.dumps(document))
            return
        self._print(annotator, withdrawal, is_done=options["yes"])

    def _print(self, annotator: Annotator, withdrawal: Withdrawal, *, is_done: bool) -> None:
        fate = "deleted" if withdrawal.deletes else "kept under the code"
        link = "cut" if withdrawal.cuts_link else "kept, as the person takes part in something else"
        if not is_done:
            fate = f"to be {fate}"
        self.stdout.write(f"{annotator.code}")
        self.stdout.write(f"Answers: {withdrawal.n_answers}, {fate}")
        self.stdout.write(f"Answers ever given, with changed ones: {withdrawal.n_revisions}")
        self.stdout.write(f"Notes: {withdrawal.n_notes} · Skips: {withdrawal.n_skips}")
        self.stdout.write(f"Drafts: {withdrawal.n_drafts} · Flags with a note: {withdrawal.n_flags}")
        self.stdout.write(f"Link to the account: {link}")
        if not is_done:
            self.stdout.write("Nothing was changed. Add --yes to do it; it cannot be undone.")


def _membership(options: dict[str, Any]) -> Membership:
    """The person's place in the campaign that the options name."""
    membership = (
        Membership.objects.select_related("campaign", "annotator__account")
        .filter(
            campaign__benchmark__slug=options["benchmark"],
            campaign__slug=options["campaign"],
            annotator__code=options["annotator"],
        )
        .first()
    )
    if membership is None:
        raise CommandError(
            f"There is no annotator {options['annotator']} in a campaign {options['campaign']} of a "
            f"benchmark {options['benchmark']}. The page of the campaign's people lists the codes."
        )
    return membership
