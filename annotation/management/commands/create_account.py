"""`manage.py create_account NAME --role ROLE`: let a person in."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.accounts import create_account
from annotation.choices import Role
from annotation.errors import DomainError


class Command(BaseCommand):
    help = "Make an account. Prints a random password unless one comes on standard input."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="the name to sign in with")
        parser.add_argument(
            "--role",
            required=True,
            type=str.lower,
            choices=[role.lower() for role in Role.values],
            help="annotator labels; researcher sees every number; admin also manages accounts",
        )
        parser.add_argument(
            "--password-stdin",
            action="store_true",
            help="read the password from standard input (one line), so that no shell history keeps it",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        password = sys.stdin.readline().rstrip("\r\n") if options["password_stdin"] else None
        try:
            made = create_account(
                username=options["name"], role=Role(options["role"].upper()), password=password
            )
        except DomainError as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"Made {made.account.username} ({made.account.get_role_display()}).")
        if made.generated_password:
            self.stdout.write(f"Password, shown this once: {made.generated_password}")
