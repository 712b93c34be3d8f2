"""What each judge's model has refused, and what it is sent now."""

from collections.abc import Sequence
from dataclasses import asdict

from judging.llm.calls import Capabilities
from judging.models import Judge
from judging.views.tables import Cell, Row, Table, text_column
from judging.views.verdict import sent_in_words

TOKEN_WORDS = {
    "max_tokens": "sent as max_tokens",
    "max_completion_tokens": "max_tokens refused, sent as max_completion_tokens",
    None: "both names refused, not sent: no cap on money can be kept",
}


def capability_table(judges: Sequence[Judge]) -> Table | None:
    """What is known of judges that are called here; None without one.

    Args:
        judges: as `listings.called_judges` gives them, with `last_sent`.
    """
    if not judges:
        return None
    return Table(
        id="capabilities",
        caption="What each judge is sent",
        note="Learned from refusals: a parameter that a model refuses is left out from then on.",
        columns=[
            text_column("Judge"),
            text_column("Model"),
            text_column("Temperature"),
            text_column("Token limit"),
            text_column("Structured output"),
            text_column("Last sent"),
        ],
        rows=[_row(judge) for judge in judges],
    )


def _row(judge: Judge) -> Row:
    known = set(asdict(Capabilities()))
    learned = Capabilities(**{name: value for name, value in judge.capabilities.items() if name in known})
    return Row(
        [
            Cell(judge.slug),
            Cell(f"{judge.model_id} at {judge.endpoint_name}"),
            Cell("sent" if learned.temperature else "refused, left out"),
            Cell(TOKEN_WORDS[learned.token_parameter]),
            Cell("sent when a pass asks for it" if learned.structured else "refused, asked for text"),
            Cell(sent_in_words(getattr(judge, "last_sent", None)), reason="no call yet"),
        ]
    )
