"""Addresses under `/api/v1/` of what people do."""

from rest_framework.routers import SimpleRouter

from annotation.api import views

router = SimpleRouter()
router.register("benchmarks", views.BenchmarkViewSet)
router.register("prompts", views.PromptViewSet)
router.register("responses", views.ResponseViewSet)
router.register("campaigns", views.CampaignViewSet)
router.register("labels", views.LabelViewSet)
urlpatterns = router.urls
