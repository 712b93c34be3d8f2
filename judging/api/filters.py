"""Which fields a list of judging can be filtered by: those named here, each by equality."""

from django_filters import CharFilter, ChoiceFilter, FilterSet

from judging.choices import (
    FailureCode,
    FailureMode,
    PassKind,
    PassSource,
    PassState,
    RubricScale,
    VerdictState,
)
from judging.staleness import STALE


class JudgeFilter(FilterSet):
    family = CharFilter()
    endpoint_name = CharFilter()


class RubricFilter(FilterSet):
    name = CharFilter()
    scale = ChoiceFilter(choices=RubricScale.choices)


class PassFilter(FilterSet):
    benchmark = CharFilter("benchmark__slug")
    name = CharFilter()
    kind = ChoiceFilter(choices=PassKind.choices)
    source = ChoiceFilter(choices=PassSource.choices)
    state = ChoiceFilter(choices=PassState.choices)


class VerdictFilter(FilterSet):
    benchmark = CharFilter("judge_pass__benchmark__slug")
    response = CharFilter("response__public_id")
    judge = CharFilter("judge__slug")
    state = ChoiceFilter("counted_state", choices=[*VerdictState.choices, (STALE, "text changed since")])
    failure_code = ChoiceFilter(choices=FailureCode.choices)
    failure_mode = ChoiceFilter("counted_failure_mode", choices=FailureMode.choices)


# `pass` is a word of the language and cannot be declared above.
VerdictFilter.base_filters["pass"] = CharFilter("judge_pass__public_id")


class RuleFilter(FilterSet):
    benchmark = CharFilter("benchmark__slug")
    name = CharFilter()


class ReportFilter(FilterSet):
    benchmark = CharFilter("benchmark__slug")
    digest = CharFilter()
