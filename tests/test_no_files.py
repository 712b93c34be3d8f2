"""Files in requests: taken at the two addresses that import them, nowhere else."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http.multipartparser import MultiPartParserError
from django.test import Client, RequestFactory
from django.urls import reverse

from carebench_web.no_files import NoFiles
from judging.importing.uploads import FORM_FIELDS_ALLOWANCE, MAX_UPLOAD_BYTES
from tests.factories import make_benchmark

pytestmark = pytest.mark.django_db

TOO_MANY_BYTES = str(MAX_UPLOAD_BYTES + FORM_FIELDS_ALLOWANCE + 1)


def form_with_file() -> dict[str, Any]:
    return {"username": "ada", "files": SimpleUploadedFile("prompts.csv", b"case_uid\n")}


@pytest.mark.parametrize("address", ["/sign-in/", "/sign-out/", "/label/", "/admin/login/"])
def test_file_from_anybody_is_refused(address: str) -> None:
    client = Client(enforce_csrf_checks=True)
    # With the cookie, Django looks for the token in the body.
    client.get("/sign-in/")

    assert client.post(address, form_with_file()).status_code == 400


def test_file_at_another_address_of_a_researcher_is_refused(researcher_client: Client) -> None:
    make_benchmark(slug="study")
    address = reverse("judging:start_pass", args=["study"])

    assert researcher_client.post(address, form_with_file()).status_code == 400


def test_refused_file_leaves_nothing_to_read() -> None:
    request = RequestFactory().post("/sign-in/", form_with_file())

    assert isinstance(request.upload_handlers[0], NoFiles)
    with pytest.raises(MultiPartParserError, match="No file is taken"):
        request.FILES.keys()
    assert not request.FILES


def test_form_without_a_file_may_come_as_multipart() -> None:
    response = Client().post("/sign-in/", {"username": "ada", "password": "not the password"})

    assert "correct username and password" in response.content.decode()


@pytest.mark.parametrize("who", ["client", "annotator_client", "researcher_client"])
def test_api_import_too_large_is_refused_before_it_is_read(request: pytest.FixtureRequest, who: str) -> None:
    client: Client = request.getfixturevalue(who)

    # The body that is announced never comes: whoever reads it gets another error.
    reply = client.post(
        "/api/v1/imports/",
        data=b"",
        content_type="multipart/form-data; boundary=x",
        CONTENT_LENGTH=TOO_MANY_BYTES,
    )

    assert reply.json()["code"] == "upload_too_large"


def test_api_import_takes_no_file_from_anybody() -> None:
    reply = Client().post("/api/v1/imports/", form_with_file())

    assert reply.status_code in (401, 403)
    assert "_files" not in vars(reply.wsgi_request)
