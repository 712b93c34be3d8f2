#!/usr/bin/env python3
"""Command line of CAREBench Web."""

import os
import sys


def main() -> None:
    """Run one management command."""
    if sys.argv[1:2] == ["demo"]:
        from carebench_web.demo.environment import prepare_environment

        prepare_environment()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "carebench_web.settings")
    from django.core.management import execute_from_command_line

    refuse_bad_settings()
    execute_from_command_line(sys.argv)


def refuse_bad_settings() -> None:
    """End with the sentence of a bad setting; Django would go on until something less clear fails."""
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import CommandParser, handle_default_options

    parser = CommandParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--settings")
    parser.add_argument("--pythonpath")
    options, _ = parser.parse_known_args(sys.argv[2:])
    handle_default_options(options)
    try:
        len(settings.INSTALLED_APPS)
    except ImproperlyConfigured as error:
        sys.exit(f"Cannot start: {error}")


if __name__ == "__main__":
    main()
