"""Addresses of the annotator's pages."""

from django.urls import URLPattern

app_name = "annotation"
urlpatterns: list[URLPattern] = []
