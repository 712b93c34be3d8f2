"""What every researcher's page shares: its benchmark, its tab, and how a refusal is shown."""

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from annotation.models import Account, Benchmark
from annotation.permissions import researcher_required
from judging.choices import PassKind
from judging.errors import Conflict, DomainError, Gone, NotAllowed
from judging.importing.uploads import UploadTooLarge
from judging.models import JudgePass
from judging.selectors import holds_simulated_responses

# What a view returns is left open: a streamed file is no HttpResponse.
Page = Callable[..., Any]

STATUS_OF_ERROR = (
    (UploadTooLarge, HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
    (Conflict, HTTPStatus.CONFLICT),
    (Gone, HTTPStatus.NOT_FOUND),
    (NotAllowed, HTTPStatus.FORBIDDEN),
    (DomainError, HTTPStatus.UNPROCESSABLE_ENTITY),
)


def researcher_page(view: Page) -> Page:
    """Open a page to researchers and admins; a refusal of the domain becomes a page that says why."""

    @researcher_required
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        try:
            return view(request, *args, **kwargs)
        except DomainError as error:
            return show_refusal(request, error)

    return wrapped


def benchmark_page(view: Page) -> Page:
    """As `researcher_page`, for one benchmark: the address's slug becomes the benchmark, or 404."""

    @researcher_required
    @wraps(view)
    def wrapped(request: HttpRequest, slug: str, **kwargs: Any) -> Any:
        benchmark = get_object_or_404(Benchmark, slug=slug)
        try:
            return view(request, benchmark, **kwargs)
        except DomainError as error:
            return show_refusal(request, error, benchmark=benchmark)

    return wrapped


def show_page(
    request: HttpRequest,
    template: str,
    *,
    benchmark: Benchmark | None,
    tab: str | None,
    status: int = HTTPStatus.OK,
    **context: Any,
) -> HttpResponse:
    """Render one page inside the researcher's frame. Two queries: other benchmarks, simulated responses."""
    frame = {
        "benchmark": benchmark,
        "benchmarks": list(Benchmark.objects.order_by("name")),
        "tab": tab,
        "is_partly_simulated": benchmark is not None
        and not benchmark.is_simulated
        and holds_simulated_responses(benchmark),
    }
    return render(request, template, frame | context, status=status)


def pass_address(judge_pass: JudgePass) -> str:
    """The page of a pass: a collection has its own, under Data."""
    name = "judging:collection" if judge_pass.kind == PassKind.COLLECTION else "judging:pass"
    return reverse(name, kwargs={"slug": judge_pass.benchmark.slug, "public_id": judge_pass.public_id})


def account_of(request: HttpRequest) -> Account | None:
    """Who is signed in, for the audit."""
    return request.user if isinstance(request.user, Account) else None


def show_refusal(
    request: HttpRequest, error: DomainError, *, benchmark: Benchmark | None = None
) -> HttpResponse:
    """The page of a refusal: the error's own sentence, which ends in the way out, and a way back."""
    status = next(status for kind, status in STATUS_OF_ERROR if isinstance(error, kind))
    return show_page(
        request,
        "judging/refusal.html",
        benchmark=benchmark,
        tab=None,
        status=status,
        error=error,
        plain_address=request.path if request.method == "GET" and request.GET else None,
    )
