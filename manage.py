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

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
