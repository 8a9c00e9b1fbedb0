from django.conf import settings
from django.contrib.auth.views import LoginView
from django.urls import include, path

provider = settings.INSTALLED_APPS[-1]
urlpatterns = [
    path("login/", LoginView.as_view(template_name="login.html")),
    path("o/", include(f"{provider}.urls", namespace=provider)),
]
