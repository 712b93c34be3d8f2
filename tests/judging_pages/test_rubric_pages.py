"""Pages of rubrics: the versions, one of them, the editor, two compared."""

import re
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Account, AuditEvent
from judging.llm.rubric import load_bundled_rubric
from judging.models import Rubric
from judging.rubrics import create_rubric
from judging.views.rubric_diff import compare_texts
from tests.factories import make_pass
from tests.judging_pages.study import Study
from tests.judging_pages.test_running import words_of

SHIPPED = load_bundled_rubric("likert-v1")
EDITED = SHIPPED.replace("Work in this order.", "Work in this order.\nRead the whole reply first.")


def address(name: str, study: Study, *rubric: str) -> str:
    return reverse(f"judging:{name}", args=[study.benchmark.slug, *rubric])


def make_version() -> Rubric:
    return create_rubric(name="likert", text=EDITED, parent="likert-v1", actor=None)


def test_every_version_is_listed_with_its_passes(researcher_client: Client, study: Study) -> None:
    version = make_version()
    make_pass(benchmark=study.benchmark, rubric=version)

    page = words_of(researcher_client.get(address("rubrics", study)).content.decode())

    assert "There are 5 versions of 4 rubrics." in page
    assert "likert-v2 two scores of 1-5 likert-v1" in page


def test_a_version_shows_text_hash_parent_and_the_passes_that_used_it(
    researcher_client: Client, study: Study
) -> None:
    version = make_version()
    used = make_pass(name="judged-with-it", rubric=version)

    page = unescape(researcher_client.get(address("rubric", study, version.slug)).content.decode())

    assert "likert-v2 asks for two scores of 1-5; it is used by 1 pass." in page
    assert EDITED in page
    assert version.text_hash in page
    assert "What changed since likert-v1" in page
    assert reverse("judging:pass", args=[used.benchmark.slug, used.public_id]) in page


def test_a_version_that_ships_can_be_read_before_it_is_used(researcher_client: Client, study: Study) -> None:
    page = words_of(researcher_client.get(address("rubric", study, "binary-v1")).content.decode())

    assert "binary-v1 asks for a flag or no flag; it is used by no pass." in page
    assert "ships with the program" in page
    assert not Rubric.objects.exists()


def test_the_editor_begins_with_the_text_of_another_version(researcher_client: Client, study: Study) -> None:
    page = researcher_client.get(address("new_rubric", study), {"from": "binary-v1"}).content.decode()

    assert 'value="binary"' in page
    assert load_bundled_rubric("binary-v1").strip() in unescape(page)


def test_storing_leads_to_the_next_version_and_is_audited(
    researcher_client: Client, researcher: Account, study: Study
) -> None:
    answer = researcher_client.post(
        f"{address('new_rubric', study)}?from=likert-v1",
        {"name": "likert", "text": EDITED.replace("\n", "\r\n")},
    )

    version = Rubric.objects.get(slug="likert-v2")
    assert answer.headers["Location"] == address("rubric", study, "likert-v2")
    assert (version.text, version.created_by) == (EDITED, researcher)
    assert version.parent is not None
    assert AuditEvent.objects.get(action="rubric.created").actor == researcher


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"text": SHIPPED.replace("{{response}}", "{{sorce}}")}, "text", "{{sorce}}, which is not known"),
        ({"text": SHIPPED}, "text", "The rubric likert-v1 has exactly this text"),
        ({"text": "=== scale ===\nlikert"}, "text", "has no section 'system'"),
        ({"text": ""}, "text", "This field is required"),
        ({"name": "two words"}, "name", "The name 'two words' cannot be used"),
        ({"name": ""}, "name", "This field is required"),
    ],
    ids=["placeholder", "same text", "no section", "no text", "bad name", "no name"],
)
def test_a_refusal_stands_beside_its_field_and_nothing_is_lost(
    researcher_client: Client, study: Study, change: dict[str, str], field: str, words: str
) -> None:
    typed = {"name": "mild", "text": EDITED, **change}

    answer = researcher_client.post(address("new_rubric", study), typed)

    page = unescape(answer.content.decode())
    assert answer.status_code == 422
    assert re.search(rf'<ul class="errorlist" id="id_{field}_error">\s*<li>[^<]*{re.escape(words)}', page)
    assert typed["text"] in page
    assert f'value="{typed["name"]}"' in page or not typed["name"]
    assert not Rubric.objects.exists()


def test_two_versions_are_compared_line_by_line(researcher_client: Client, study: Study) -> None:
    make_version()

    page = researcher_client.get(
        address("rubric_diff", study, "likert-v2"), {"with": "likert-v1"}
    ).content.decode()

    assert "From likert-v1 to likert-v2: 0 lines removed, 1 line added." in page
    assert "<ins>Read the whole reply first.</ins>" in page
    assert "Added: " in page


@pytest.mark.parametrize("name", ["rubric", "rubric_diff"])
@pytest.mark.parametrize("slug", ["likert-v9", "nothing"])
def test_an_unknown_version_is_not_found(
    researcher_client: Client, study: Study, name: str, slug: str
) -> None:
    assert researcher_client.get(address(name, study, slug)).status_code == 404


@pytest.mark.parametrize("other", ["nothing", "\0"])
def test_a_comparison_with_an_unknown_version_is_not_found(
    researcher_client: Client, study: Study, other: str
) -> None:
    answer = researcher_client.get(address("rubric_diff", study, "likert-v1"), {"with": other})

    assert answer.status_code == 404


def test_the_editor_is_for_researchers(annotator_client: Client, client: Client, study: Study) -> None:
    typed = {"name": "mild", "text": EDITED}

    assert annotator_client.post(address("new_rubric", study), typed).status_code == 404
    assert client.post(address("new_rubric", study), typed).status_code == 302
    assert not Rubric.objects.exists()


def test_markup_in_a_rubric_is_shown_as_text(researcher_client: Client, study: Study) -> None:
    markup = "<script>alert(1)</script>"
    text = SHIPPED.replace("Work in this order.", markup)
    create_rubric(name="likert", text=text, parent="likert-v1", actor=None)

    pages = [
        researcher_client.get(address("rubric", study, "likert-v2")),
        researcher_client.get(address("rubric_diff", study, "likert-v2"), {"with": "likert-v1"}),
        researcher_client.get(address("new_rubric", study), {"from": "likert-v2"}),
    ]

    assert all(markup not in page.content.decode() for page in pages)


@pytest.mark.parametrize(
    ("old", "new", "kinds"),
    [
        ("a\nb", "a\nb", []),
        ("", "a", ["added"]),
        ("a", "", ["removed"]),
        ("a\nb\nc", "a\nx\nc", ["same", "removed", "added", "same"]),
        ("1\n2\n3\n4\n5\na", "1\n2\n3\n4\n5\nb", ["skipped", "same", "same", "same", "removed", "added"]),
    ],
    ids=["equal", "from nothing", "to nothing", "one line", "far from the start"],
)
def test_a_difference_is_lines_with_three_around(old: str, new: str, kinds: list[str]) -> None:
    assert [line.kind for line in compare_texts(old, new).lines] == kinds


def test_a_difference_leads_from_one_text_to_the_other() -> None:
    diff = compare_texts(SHIPPED, load_bundled_rubric("likert-single-v1"))

    assert diff.n_removed == sum(line.kind == "removed" for line in diff.lines) > 0
    assert diff.n_added > 0
