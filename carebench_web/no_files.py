"""The default answer to files in a form: none are taken."""

from typing import Any, NoReturn

from django.core.files.uploadhandler import FileUploadHandler
from django.http.multipartparser import MultiPartParserError


class NoFiles(FileUploadHandler):
    """Refuse the request (400) as soon as a file begins in it.

    Django reads a form to find its token before it looks at who sends it. A handler that keeps
    files would let anybody fill the disk. The addresses that take files say so themselves.
    """

    def new_file(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise MultiPartParserError("No file is taken at this address.")
