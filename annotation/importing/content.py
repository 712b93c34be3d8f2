"""What a benchmark holds already, and what an import would add: keys looked up in memory.

Four queries read the benchmark once. Planned rows are unsaved model objects under the same keys,
so that rows of later files join rows of earlier ones, whether stored or only planned.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from annotation.choices import ResponseState
from annotation.importing.cells import RowCells, hash_text
from annotation.importing.outcome import RowRefused
from annotation.models import Benchmark, Prompt, Response, TargetModel

RolloutKey = tuple[str, str, int]
TextKey = tuple[str, str, str]


@dataclass
class Content:
    """Prompts, models and responses of one benchmark, stored and planned."""

    benchmark: Benchmark
    prompts: dict[str, Prompt] = field(default_factory=dict)
    models: dict[str, TargetModel] = field(default_factory=dict)
    by_rollout: dict[RolloutKey, Response] = field(default_factory=dict)
    by_text: dict[TextKey, list[Response]] = field(default_factory=lambda: defaultdict(list))
    new_prompts: list[Prompt] = field(default_factory=list)
    new_models: list[TargetModel] = field(default_factory=list)
    new_responses: list[Response] = field(default_factory=list)
    # Where a key was first read in this import: "responses.csv line 7".
    origins: dict[tuple[str, ...], str] = field(default_factory=dict)

    def origin_of(self, *key: str) -> str:
        """Where the value under `key` came from, for a conflict message."""
        return self.origins.get(key, "stored in the benchmark earlier")

    def add_prompt(self, cells: RowCells, *, place: str) -> tuple[Prompt, bool]:
        """The prompt that a row names, made if it is new.

        A row without a `prompt` column (scores) can only join a prompt that exists.

        Returns:
            The prompt, and True if it was planned now.

        Raises:
            RowRefused: its text, category or mechanism differs from the one under the same case_uid.
        """
        case_uid = cells.key("case_uid")
        category = cells.key("risk_category")
        mechanism = cells.optional_key("risk_mechanism")
        has_text = "prompt" in cells.row.cells
        known = self.prompts.get(case_uid)
        if known is None:
            if not has_text:
                raise RowRefused(
                    "unknown_case",
                    f"There is no prompt {case_uid!r} in the benchmark. Import its prompts first.",
                    column="case_uid",
                )
            text = cells.text("prompt")
            if not text.strip():
                raise RowRefused(
                    "blank_prompt", "The cell prompt is blank; expected the prompt's text.", column="prompt"
                )
            prompt = Prompt(
                benchmark=self.benchmark,
                case_uid=case_uid,
                risk_category=category,
                risk_mechanism=mechanism,
                text=text,
            )
            self.prompts[case_uid] = prompt
            self.new_prompts.append(prompt)
            self.origins["prompt", case_uid] = place
            return prompt, True
        self._hold_against(known, cells, category=category, mechanism=mechanism, has_text=has_text)
        return known, False

    def _hold_against(
        self, known: Prompt, cells: RowCells, *, category: str, mechanism: str | None, has_text: bool
    ) -> None:
        pairs = [("risk_category", known.risk_category, category)]
        if mechanism is not None or known.risk_mechanism is None:
            pairs.append(("risk_mechanism", known.risk_mechanism, mechanism))
        if has_text:
            pairs.append(("prompt", known.text, cells.text("prompt")))
        for column, stored, given in pairs:
            if stored != given:
                raise RowRefused(
                    "conflict",
                    f"The {column} of case {known.case_uid!r} on line {cells.line} differs from the one of "
                    f"{self.origin_of('prompt', known.case_uid)}. Correct one of the two, or give the case "
                    "an id of its own.",
                    column=column,
                )
        if mechanism is None and known.risk_mechanism is not None:
            cells.notes.append("blank risk_mechanism: the one stored for the case stays")

    def add_model(self, slug: str) -> TargetModel:
        """The target model named `slug`, planned if it is new."""
        if slug not in self.models:
            self.models[slug] = TargetModel(slug=slug)
            self.new_models.append(self.models[slug])
        return self.models[slug]

    def add_response(
        self, *, prompt: Prompt, model: str, rollout: int | None, text: str, error: str | None, place: str
    ) -> Response:
        """Plan one response; the caller has looked up that its key is free."""
        response = Response(
            prompt=prompt,
            target_model=self.add_model(model),
            rollout=rollout,
            state=state_of(text=text, error=error),
            text=text,
            text_hash=hash_text(text),
            error=error,
        )
        self.new_responses.append(response)
        self._index(response)
        if rollout is not None:
            self.origins["response", prompt.case_uid, model, str(rollout)] = place
        return response

    def _index(self, response: Response) -> None:
        case_uid, model = response.prompt.case_uid, response.target_model.slug
        if response.rollout is not None:
            self.by_rollout[case_uid, model, response.rollout] = response
        self.by_text[case_uid, model, response.text_hash].append(response)

    def find_by_text(self, *, case_uid: str, model: str, text: str) -> Response | None:
        """The response with exactly this text: the lowest rollout, else the one outside rollouts."""
        found = self.by_text.get((case_uid, model, hash_text(text)))
        if not found:
            return None
        return min(found, key=lambda response: (response.rollout is None, response.rollout or 0))


def state_of(*, text: str, error: str | None) -> ResponseState:
    """State of a response as a file gives it: an error decides, then whether there is any text."""
    if error:
        return ResponseState.ERROR
    return ResponseState.OK if text.strip() else ResponseState.EMPTY


def load_content(benchmark: Benchmark) -> Content:
    """Read what the benchmark holds. Three queries; a benchmark that is not stored yet is empty."""
    content = Content(benchmark=benchmark)
    content.models = {model.slug: model for model in TargetModel.objects.all()}
    if benchmark.pk is None:
        return content
    prompts = {prompt.pk: prompt for prompt in Prompt.objects.filter(benchmark=benchmark).order_by("pk")}
    content.prompts = {prompt.case_uid: prompt for prompt in prompts.values()}
    models = {model.pk: model for model in content.models.values()}
    for response in Response.objects.filter(prompt__benchmark=benchmark).defer("text").order_by("pk"):
        response.prompt = prompts[response.prompt_id]
        response.target_model = models[response.target_model_id]
        content._index(response)
    return content


def look_alike_key(case_uid: str) -> str:
    """A form in which ids that a spreadsheet would confuse are equal: 007, 7 and 7.0."""
    folded = case_uid.casefold()
    whole = folded.removesuffix(".0")
    return whole.lstrip("0") or "0" if whole.isdecimal() else folded
