"""Addresses of the researcher's pages."""

from django.urls import URLPattern

app_name = "judging"
urlpatterns: list[URLPattern] = []
