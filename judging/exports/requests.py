"""What an export is asked for, the same from a page, the API, a command or a test."""

from dataclasses import dataclass

from annotation.models import Campaign
from judging.models import JudgePass


@dataclass(frozen=True)
class ExportRequest:
    """One table in one format, and the choices that its rows follow from.

    Args:
        table: one of `tables.TABLES`.
        format: one of `exporting.FORMATS`.
        judge_pass: the newest finished pass when None.
        before: the earlier pass that `judge_pass` is compared with, in the table comparison.
        rule: name or JSON; the benchmark's default when None.
        campaign: only this campaign's labels; those of all when None.
        flavour: of CSV, one of `exporting.FLAVOURS`; `exact` when None. Other formats have none.

    A choice that plays no part in a table, such as the rule for prompts, is passed over.
    """

    table: str
    format: str
    judge_pass: JudgePass | None = None
    before: JudgePass | None = None
    rule: str | None = None
    campaign: Campaign | None = None
    flavour: str | None = None
