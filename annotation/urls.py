"""Addresses of the annotator's pages, and of campaign management under `manage/`."""

from django.urls import path

from annotation.views import (
    campaign_texts,
    caring,
    consenting,
    inviting,
    labelling,
    managing,
    people,
    preparing,
    reading,
)

app_name = "annotation"
urlpatterns = [
    path("", consenting.home, name="home"),
    path("look/", reading.look, name="look"),
    path("manage/<slug:slug>/new/", preparing.campaign_new, name="campaign_new"),
    path("manage/campaigns/<slug:campaign_id>/responses/", preparing.responses, name="campaign_responses"),
    path("manage/campaigns/<slug:campaign_id>/labels/", preparing.labels, name="campaign_labels"),
    path("manage/campaigns/<slug:campaign_id>/texts/", campaign_texts.texts, name="campaign_texts"),
    path("manage/campaigns/<slug:campaign_id>/texts/again/", campaign_texts.ask_again, name="ask_again"),
    path("manage/campaigns/<slug:campaign_id>/pace/", preparing.pace, name="campaign_pace"),
    path("manage/campaigns/<slug:campaign_id>/known/", preparing.known, name="campaign_known"),
    path("manage/campaigns/<slug:campaign_id>/known/mark/", preparing.pass_mark, name="pass_mark"),
    path("manage/campaigns/<slug:campaign_id>/known/<slug:response_id>/", preparing.place, name="place"),
    path("manage/campaigns/<slug:campaign_id>/check/", preparing.check, name="campaign_check"),
    path("manage/campaigns/<slug:campaign_id>/discard/", preparing.discard, name="campaign_discard"),
    path("manage/campaigns/<slug:campaign_id>/", managing.campaign, name="campaign"),
    path("manage/campaigns/<slug:campaign_id>/state/", managing.campaign_state, name="campaign_state"),
    path("manage/campaigns/<slug:campaign_id>/people/", people.campaign_people, name="campaign_people"),
    path("manage/campaigns/<slug:campaign_id>/people/invite/", people.campaign_invite, name="invite"),
    path(
        "manage/campaigns/<slug:campaign_id>/people/links/<slug:invitation_id>/revoke/",
        people.revoke,
        name="revoke",
    ),
    path(
        "manage/campaigns/<slug:campaign_id>/people/<slug:annotator_id>/items/",
        people.person_items,
        name="person_items",
    ),
    path(
        "manage/campaigns/<slug:campaign_id>/people/<slug:annotator_id>/deactivate/",
        people.deactivate_person,
        name="deactivate",
    ),
    path(
        "manage/campaigns/<slug:campaign_id>/people/<slug:annotator_id>/reactivate/",
        people.reactivate_person,
        name="reactivate",
    ),
    path(
        "manage/campaigns/<slug:campaign_id>/people/<slug:annotator_id>/withdraw/",
        people.withdraw_person,
        name="withdraw_person",
    ),
    path("join/<slug:secret>/", inviting.join, name="join"),
    path("consents/", consenting.consents, name="consents"),
    path("<slug:campaign_id>/welcome/", inviting.welcome, name="welcome"),
    path("<slug:campaign_id>/themes/", consenting.themes, name="themes"),
    path("<slug:campaign_id>/consent/", consenting.consent, name="consent"),
    path("<slug:campaign_id>/withdraw/", consenting.withdraw, name="withdraw"),
    path("<slug:campaign_id>/next/", labelling.next_item, name="next"),
    path("<slug:campaign_id>/items/<slug:assignment_id>/", labelling.item, name="item"),
    path("<slug:campaign_id>/items/<slug:assignment_id>/skip/", labelling.skip, name="skip"),
    path("<slug:campaign_id>/items/<slug:assignment_id>/feedback/", caring.feedback, name="feedback"),
    path("<slug:campaign_id>/break/", caring.pause, name="break"),
    path("<slug:campaign_id>/practice/", caring.training, name="training"),
    path("<slug:campaign_id>/items/<slug:assignment_id>/draft/", reading.draft, name="draft"),
    path("<slug:campaign_id>/items/<slug:assignment_id>/flag/", reading.flag, name="flag"),
    path("<slug:campaign_id>/answers/", reading.answers, name="answers"),
    path("<slug:campaign_id>/undo/", labelling.undo, name="undo"),
    path("<slug:campaign_id>/stop/", consenting.stop, name="stop"),
    path("<slug:campaign_id>/thanks/", consenting.thanks, name="thanks"),
]
