"""What a benchmark holds already, and what an import would add: keys looked up in memory.

Three queries read the benchmark once, without its response texts. Planned rows are unsaved model
objects under the same keys, so that rows of later files join rows of earlier ones, whether stored
or only planned.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from annotation.choices import ResponseState
from annotation.importing.cells import RowCells, hash_text
from annotation.importing.look_alikes import LookAlikes
from annotation.importing.outcome import RowRefused
from annotation.models import Benchmark, Prompt, Response, TargetModel

RolloutKey = tuple[str, str, int]
TextKey = tuple[str, str, str]

STORED_EARLIER = "an earlier import"


@dataclass
class Content:
    """Prompts, models and responses of one benchmark, stored and planned.

    `filled_prompts` are stored ones that get the risk mechanism they lacked; `placed_responses`
    stored ones outside any rollout that turn out to be a rollout of a response file.
    """

    benchmark: Benchmark
    prompts: dict[str, Prompt] = field(default_factory=dict)
    models: dict[str, TargetModel] = field(default_factory=dict)
    by_rollout: dict[RolloutKey, Response] = field(default_factory=dict)
    by_text: dict[TextKey, list[Response]] = field(default_factory=lambda: defaultdict(list))
    new_prompts: list[Prompt] = field(default_factory=list)
    new_models: list[TargetModel] = field(default_factory=list)
    new_responses: list[Response] = field(default_factory=list)
    filled_prompts: list[Prompt] = field(default_factory=list)
    placed_responses: list[Response] = field(default_factory=list)
    look_alikes: LookAlikes = field(default_factory=LookAlikes)
    # Where a key was first read in this import: "responses.csv line 7".
    origins: dict[tuple[str, ...], str] = field(default_factory=dict)

    def responses(self) -> Iterator[Response]:
        """All of them, stored and planned."""
        return (response for responses in self.by_text.values() for response in responses)

    def origin_of_prompt(self, case_uid: str) -> str:
        """Where the prompt was first read, for a conflict message."""
        return self.origins.get(("prompt", case_uid), STORED_EARLIER)

    def origin_of_response(self, key: RolloutKey) -> str:
        """Where the response was first read, for a conflict message."""
        case_uid, model, rollout = key
        return self.origins.get(("response", case_uid, model, str(rollout)), STORED_EARLIER)

    def add_prompt(self, cells: RowCells) -> tuple[Prompt, bool]:
        """The prompt that a row with a `prompt` column names, planned if it is new.

        Returns:
            The prompt, and True if it was planned now.

        Raises:
            RowRefused: blank, or another text, category or mechanism than the one under its case_uid.
        """
        case_uid = cells.key("case_uid")
        category = cells.key("risk_category")
        mechanism = cells.optional_key("risk_mechanism")
        text = cells.text("prompt")
        if not text.strip():
            raise RowRefused(
                "blank_prompt",
                "The cell prompt is blank; expected the prompt's text. Fill it in.",
                column="prompt",
            )
        known = self.prompts.get(case_uid)
        if known is not None:
            self.check_prompt(known, cells)
            return known, False
        if mechanism is None:
            cells.remarks.append("risk_mechanism is blank")
        prompt = Prompt(
            benchmark=self.benchmark,
            case_uid=case_uid,
            risk_category=category,
            risk_mechanism=mechanism,
            text=text,
        )
        self.prompts[case_uid] = prompt
        self.new_prompts.append(prompt)
        self.origins["prompt", case_uid] = cells.place
        if remark := self.look_alikes.add(case_uid):
            cells.remarks.append(remark)
        return prompt, True

    def check_prompt(self, known: Prompt, cells: RowCells) -> None:
        """Hold a row against the prompt it names.

        A blank mechanism differs from none; one that the prompt lacked so far is filled in, so that
        the order of rows and files does not matter.

        Raises:
            RowRefused: what the row says about the prompt differs from it.
        """
        mechanism = cells.optional_key("risk_mechanism")
        pairs = [("risk_category", known.risk_category, cells.key("risk_category"))]
        if mechanism is None:
            cells.remarks.append("risk_mechanism is blank")
        elif known.risk_mechanism is not None:
            pairs.append(("risk_mechanism", known.risk_mechanism, mechanism))
        if cells.has("prompt"):
            pairs.append(("prompt", known.text, cells.text("prompt")))
        for column, stored, given in pairs:
            if stored != given:
                raise RowRefused(
                    "conflict",
                    f"The {column} of case {known.case_uid!r} on line {cells.line} differs from the one "
                    f"of {self.origin_of_prompt(known.case_uid)}. Correct one of the two, or give the "
                    "case an id of its own.",
                    column=column,
                )
        if mechanism is not None and known.risk_mechanism is None:
            known.risk_mechanism = mechanism
            cells.remarks.append("the case had no risk_mechanism so far: it is filled in")
            if known.pk is not None:
                self.filled_prompts.append(known)

    def add_response(
        self, *, prompt: Prompt, model: str, rollout: int | None, text: str, error: str | None
    ) -> Response:
        """Plan one response; the caller has looked up that its key is free."""
        response = Response(
            prompt=prompt,
            target_model=self._add_model(model),
            rollout=rollout,
            state=state_of(text=text, error=error),
            text=text,
            text_hash=hash_text(text),
            error=error,
        )
        self.new_responses.append(response)
        self._index(response)
        return response

    def _add_model(self, slug: str) -> TargetModel:
        if slug not in self.models:
            self.models[slug] = TargetModel(slug=slug)
            self.new_models.append(self.models[slug])
        return self.models[slug]

    def _index(self, response: Response) -> None:
        key = text_key(response)
        if response.rollout is not None:
            self.by_rollout[key[0], key[1], response.rollout] = response
        self.by_text[key].append(response)

    def find_by_text(self, *, case_uid: str, model: str, text: str) -> list[Response]:
        """The responses with exactly this text: rollouts ascending, then the one outside rollouts."""
        found = self.by_text.get((case_uid, model, hash_text(text)), [])
        return sorted(found, key=lambda response: (response.rollout is None, response.rollout or 0))

    def place_labelled_texts(self) -> None:
        """Give stored responses outside any rollout the rollout under which they were now planned.

        Labels may arrive before the responses they belong to. The stored row then takes the lowest
        planned rollout of the same text and keeps its labels, as if the files had come in the other
        order. Call after all response files are planned and before labels and scores are.
        """
        replaced: set[int] = set()
        for planned in sorted(self.new_responses, key=lambda response: response.rollout or 0):
            group = self.by_text[text_key(planned)]
            outside = next((response for response in group if response.rollout is None), None)
            if outside is None:
                continue
            outside.rollout, outside.state, outside.error = planned.rollout, planned.state, planned.error
            group.remove(planned)
            key = text_key(planned)
            self.by_rollout[key[0], key[1], planned.rollout or 0] = outside
            self.placed_responses.append(outside)
            replaced.add(id(planned))
        self.new_responses = [response for response in self.new_responses if id(response) not in replaced]

    def totals(self) -> Counter[str]:
        """How many rows of each sort are new or changed, for the audit."""
        return Counter(
            new_prompts=len(self.new_prompts),
            new_models=len(self.new_models),
            new_responses=len(self.new_responses),
            filled_prompts=len(self.filled_prompts),
            placed_responses=len(self.placed_responses),
        )


def text_key(response: Response) -> TextKey:
    """Case, model and hash of the text: what labels without a rollout join by."""
    return response.prompt.case_uid, response.target_model.slug, response.text_hash


def state_of(*, text: str, error: str | None) -> ResponseState:
    """State of a response as a file gives it: an error decides, then whether there is any text."""
    if error:
        return ResponseState.ERROR
    return ResponseState.OK if text.strip() else ResponseState.EMPTY


def load_content(benchmark: Benchmark) -> Content:
    """Read what the benchmark holds. Three queries; a benchmark that is not stored yet is empty."""
    # Responses before what they point to: another import meanwhile then leaves none without it.
    stored: list[Response] = []
    prompts: dict[int, Prompt] = {}
    if benchmark.pk is not None:
        stored = list(Response.objects.filter(prompt__benchmark=benchmark).defer("text").order_by("pk"))
        prompts = {prompt.pk: prompt for prompt in Prompt.objects.filter(benchmark=benchmark).order_by("pk")}
    models = {model.pk: model for model in TargetModel.objects.all()}
    content = Content(
        benchmark=benchmark,
        prompts={prompt.case_uid: prompt for prompt in prompts.values()},
        models={model.slug: model for model in models.values()},
        look_alikes=LookAlikes(prompt.case_uid for prompt in prompts.values()),
    )
    for response in stored:
        response.prompt = prompts[response.prompt_id]
        response.target_model = models[response.target_model_id]
        content._index(response)
    return content
