# The command line of a Django project whose provider is the app that INTEROP names. INTEROP also has the
# file of the database, the secret, and settings of the provider.
import json
import os
import sys

from django.conf import settings
from django.core.management import execute_from_command_line

run = json.loads(os.environ["INTEROP"])

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    SECRET_KEY=run["secret"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": run["database"]}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        run["app"],
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    # Fast: the default hasher takes a second for each sign-in and each refresh on a busy machine.
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    ROOT_URLCONF="project_urls",
    LOGIN_URL="/login/",
    STATIC_URL="static/",
    USE_TZ=True,
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "DIRS": [os.path.join(os.path.dirname(__file__), "templates")],
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                ]
            },
        }
    ],
    **run["settings"],
)
execute_from_command_line(sys.argv)
