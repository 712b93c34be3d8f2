"""How a campaign goes, the same numbers as on the monitoring page."""

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.reading import refuse_unknown_parameters
from annotation.choices import CampaignState
from annotation.models import Campaign
from judging.watching import watch_campaign


class CampaignProgressView(APIView):
    """Progress, label mix, skips, flags, reliability and agreement among people of one campaign."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, campaign: str) -> Response:
        refuse_unknown_parameters(request, set())
        campaigns = Campaign.objects.exclude(state=CampaignState.DRAFT).select_related("benchmark")
        return Response(watch_campaign(get_object_or_404(campaigns, public_id=campaign)))
