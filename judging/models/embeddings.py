"""Vectors of texts, kept so that no text is embedded, or paid for, twice."""

from django.db import models
from django.db.models import Q
from django.utils import timezone


class Embedding(models.Model):
    """The vector of one text by one embedder, as float32 bytes in little-endian order, of length 1."""

    embedder = models.CharField(max_length=200)
    text_hash = models.CharField(max_length=64)
    n_dimensions = models.PositiveIntegerField()
    vector = models.BinaryField()
    # Whether the loopback provider gave it: nothing made with it may pass for real.
    is_simulated = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["embedder", "text_hash"], name="embedding_once_per_text"),
            models.CheckConstraint(condition=Q(n_dimensions__gte=1), name="embedding_has_dimensions"),
        ]
