"""Addresses of the whole site."""

from django.contrib import admin
from django.contrib.auth import views as auth_views
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from carebench_web import views

urlpatterns = [
    path("", views.home, name="home"),
    path("health/", views.health, name="health"),
    path("sign-in/", auth_views.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("sign-out/", auth_views.LogoutView.as_view(), name="logout"),
    path("label/", include("annotation.urls")),
    path("research/", include("judging.urls")),
    path("api/v1/", include("judging.api.urls")),
    path("api/v1/", include("annotation.api.urls")),
    path("api/v1/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/v1/docs/", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="api-docs"),
    path("api/v1/<path:rest>", views.no_such_api_address),
    # Ahead of the admin site's own page of this address, which leaves no audit event.
    path("admin/password_change/", admin.site.admin_view(views.change_own_password)),
    path("admin/", admin.site.urls),
]
