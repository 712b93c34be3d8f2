"""Addresses of the annotator's pages, and of campaign management under `manage/`."""

from django.urls import path

from annotation.views import consenting, labelling, managing

app_name = "annotation"
urlpatterns = [
    path("", consenting.home, name="home"),
    path("manage/<slug:slug>/new/", managing.campaign_new, name="campaign_new"),
    path("manage/campaigns/<slug:campaign_id>/", managing.campaign, name="campaign"),
    path("manage/campaigns/<slug:campaign_id>/state/", managing.campaign_state, name="campaign_state"),
    path("manage/campaigns/<slug:campaign_id>/people/", managing.campaign_people, name="campaign_people"),
    path("<slug:campaign_id>/consent/", consenting.consent, name="consent"),
    path("<slug:campaign_id>/withdraw/", consenting.withdraw, name="withdraw"),
    path("<slug:campaign_id>/next/", labelling.next_item, name="next"),
    path("<slug:campaign_id>/items/<slug:assignment_id>/", labelling.item, name="item"),
    path("<slug:campaign_id>/items/<slug:assignment_id>/skip/", labelling.skip, name="skip"),
    path("<slug:campaign_id>/undo/", labelling.undo, name="undo"),
    path("<slug:campaign_id>/stop/", consenting.stop, name="stop"),
    path("<slug:campaign_id>/thanks/", consenting.thanks, name="thanks"),
]
