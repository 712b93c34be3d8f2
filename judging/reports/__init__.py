"""The single entry to every number: pages, API, commands and exports all come through here."""

from judging.reports.building import (
    DEFAULT_SEED,
    Grading,
    build_report,
    count_labels,
    grade_responses,
    read_report,
)
from judging.reports.comparing import (
    PassPair,
    comparable_passes,
    compare_passes,
    describe_pair,
    pair_passes,
)
from judging.reports.digests import SCHEMA_VERSION, code_version
from judging.reports.rule_choice import (
    GIVEN_RULE_NAME,
    MAX_RULE_CHARACTERS,
    PUBLISHED_RULE_NAME,
    UNIFORM_RULE_NAME,
    ChosenRule,
    choose_rule,
    fitting_rules,
)

__all__ = [
    "DEFAULT_SEED",
    "GIVEN_RULE_NAME",
    "MAX_RULE_CHARACTERS",
    "PUBLISHED_RULE_NAME",
    "SCHEMA_VERSION",
    "UNIFORM_RULE_NAME",
    "ChosenRule",
    "Grading",
    "PassPair",
    "build_report",
    "choose_rule",
    "code_version",
    "comparable_passes",
    "compare_passes",
    "count_labels",
    "describe_pair",
    "fitting_rules",
    "grade_responses",
    "pair_passes",
    "read_report",
]
