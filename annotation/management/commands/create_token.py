"""`manage.py create_token NAME`: let a person's scripts use the API."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.accounts import create_token
from annotation.errors import DomainError
from annotation.models import Account


class Command(BaseCommand):
    help = "Make an API token for a researcher or admin and print it. An earlier one stops working."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="the name that the person signs in with")

    def handle(self, *args: Any, **options: Any) -> None:
        account = Account.objects.filter(username=options["name"]).first()
        if account is None:
            raise CommandError(f"There is no account named {options['name']}. Check the name.")
        try:
            token = create_token(account)
        except DomainError as error:
            raise CommandError(error.message) from error
        self.stdout.write("To be sent with each request, and shown this once:")
        self.stdout.write(f"Authorization: Token {token}")
