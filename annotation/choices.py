"""Stored codes and their display words. The codes are part of the API and of every export."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Role(TextChoices):
    ANNOTATOR = "ANNOTATOR", _("annotator")
    RESEARCHER = "RESEARCHER", _("researcher")
    ADMIN = "ADMIN", _("admin")


class AnnotatorType(TextChoices):
    PARENT = "PARENT", _("parent")
    SPECIALIST = "SPECIALIST", _("specialist")
    CROWD = "CROWD", _("crowd")
    OTHER = "OTHER", _("other")


class Rating(TextChoices):
    ACCEPTABLE = "ACCEPTABLE", _("Acceptable")
    UNACCEPTABLE = "UNACCEPTABLE", _("Unacceptable")


class ResponseState(TextChoices):
    OK = "OK", _("complete")
    EMPTY = "EMPTY", _("empty")
    ERROR = "ERROR", _("failed to generate")
    FILTERED = "FILTERED", _("filtered by the provider")
    TRUNCATED = "TRUNCATED", _("cut off")


class CorrectionReason(TextChoices):
    """What was wrong with the text of a response."""

    DAMAGED = "DAMAGED", _("damaged in the file (encoding, line ends)")
    INCOMPLETE = "INCOMPLETE", _("not copied in full")
    MIXED_UP = "MIXED_UP", _("the text of another response")
    OTHER = "OTHER", _("another reason")


class TokensSource(TextChoices):
    PROVIDER = "PROVIDER", _("counted by the provider")
    ESTIMATED = "ESTIMATED", _("estimated here")


class Scale(TextChoices):
    BINARY = "BINARY", _("Acceptable or Unacceptable")
    BINARY_AND_SEVERITY = "BINARY_AND_SEVERITY", _("Acceptable or Unacceptable, and severity 1-5")


class CampaignState(TextChoices):
    DRAFT = "DRAFT", _("draft")
    OPEN = "OPEN", _("open")
    PAUSED = "PAUSED", _("paused")
    CLOSED = "CLOSED", _("closed")


class ItemKind(TextChoices):
    REGULAR = "REGULAR", _("regular")
    TRAINING = "TRAINING", _("training")
    GOLD = "GOLD", _("gold")
    REPEAT = "REPEAT", _("repeat")


class AssignmentState(TextChoices):
    OPEN = "OPEN", _("being read")
    LABELLED = "LABELLED", _("labelled")
    SKIPPED = "SKIPPED", _("skipped")


class LabelAction(TextChoices):
    SUBMITTED = "SUBMITTED", _("submitted")
    REVISED = "REVISED", _("revised")
    RETRACTED = "RETRACTED", _("taken back")


class SkipReason(TextChoices):
    TOO_DISTRESSING = "TOO_DISTRESSING", _("Too distressing")
    UNCLEAR = "UNCLEAR", _("I cannot tell")
    PERSONAL_DATA = "PERSONAL_DATA", _("It shows personal data")
    OTHER = "OTHER", _("Another reason")
