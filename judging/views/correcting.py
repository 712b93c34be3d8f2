"""The page on which a researcher corrects the text of a response."""

from http import HTTPStatus

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods

from annotation.choices import CorrectionReason
from annotation.correcting import UnusableText, correct_response, refuse_labelled
from annotation.models import Benchmark, Response
from judging.forms.correcting import CorrectionForm
from judging.models import Verdict
from judging.views.context import account_of, benchmark_page, show_page
from judging.views.wording import counted


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_page
def correct(request: HttpRequest, benchmark: Benchmark, public_id: str) -> HttpResponse:
    """The text to correct, and what that does to its verdicts; a POST corrects it."""
    responses = Response.objects.select_related("prompt", "target_model")
    response = get_object_or_404(responses, prompt__benchmark=benchmark, public_id=public_id)
    refuse_labelled(response)
    form = CorrectionForm(request.POST or None, initial={"text": response.text})
    status = HTTPStatus.OK
    if request.method == "POST":
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        if form.is_valid():
            try:
                correct_response(
                    response,
                    text=form.cleaned_data["text"],
                    reason=CorrectionReason(form.cleaned_data["reason"]),
                    actor=account_of(request),
                )
            except UnusableText as error:
                form.add_error("text", error.message)
            else:
                messages.success(request, "Corrected. Verdicts on the earlier text count as missing.")
                return redirect("judging:response", slug=benchmark.slug, public_id=public_id)
    n_verdicts = Verdict.objects.filter(response=response).count()
    return show_page(
        request,
        "judging/correct.html",
        benchmark=benchmark,
        tab=None,
        status=status,
        response=response,
        form=form,
        verdicts=counted(n_verdicts, "verdict") if n_verdicts else None,
    )
