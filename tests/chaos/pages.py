"""`python -m tests.chaos.pages ADDRESS...`: pages as a researcher gets them, in one JSON document."""

import json
import os
import sys

import django

READER = "chaos-reader"


def main() -> None:
    """Fetch every address that is named, and print {address: page}."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "carebench_web.settings")
    django.setup()

    from django.test import Client

    from annotation.choices import Role
    from annotation.models import Account

    account = Account.objects.filter(username=READER).first()
    if account is None:
        account = Account.objects.create_user(username=READER, role=Role.RESEARCHER)
    client = Client(headers={"host": "localhost"})
    client.force_login(account)
    pages = {}
    for address in sys.argv[1:]:
        response = client.get(address, follow=True)
        body = response.getvalue()
        headers = "\n".join(f"{name}: {value}" for name, value in response.items())
        pages[address] = f"{response.status_code}\n{headers}\n\n{body.decode(errors='replace')}"
    json.dump(pages, sys.stdout)


if __name__ == "__main__":
    main()
