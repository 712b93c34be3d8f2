"""The one settings file. Every deployment value comes from the environment through env.py."""

import logging
import sqlite3
import sys
import tomllib
import warnings
from pathlib import Path

# SQLite before 3.51.3 can corrupt a WAL database in a rare race of two connections; the pysqlite3
# wheel carries a mended one. It must be in place before Django imports sqlite3.
SAFE_SQLITE_VERSION = (3, 51, 3)
if sqlite3.sqlite_version_info < SAFE_SQLITE_VERSION:
    try:
        import pysqlite3
    except ImportError:
        logging.getLogger(__name__).warning(
            "SQLite %s has a rare corruption race in WAL mode and pysqlite3 is not installed.",
            sqlite3.sqlite_version,
        )
    else:
        sys.modules["sqlite3"] = pysqlite3
        sys.modules["sqlite3.dbapi2"] = pysqlite3.dbapi2

from django.core.exceptions import ImproperlyConfigured  # noqa: E402

from carebench_web import env  # noqa: E402

BASE_DIR = Path(__file__).resolve().parent.parent
# Every report names the code that computed it.
CODE_VERSION = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]
DATA_DIR = env.read_folder("CAREBENCH_DATA_DIR", default=BASE_DIR / "var")

DEBUG = env.read_flag("DJANGO_DEBUG", default=False)
SECRET_KEY = env.read_text("DJANGO_SECRET_KEY")
if len(SECRET_KEY) < 32:
    raise ImproperlyConfigured(
        f"DJANGO_SECRET_KEY has {len(SECRET_KEY)} characters; expected at least 32 random ones. "
        'Make one with: python3 -c "import secrets; print(secrets.token_urlsafe(48))"'
    )
ALLOWED_HOSTS = env.read_list("DJANGO_ALLOWED_HOSTS", default="127.0.0.1,localhost")
CSRF_TRUSTED_ORIGINS = env.read_list("DJANGO_CSRF_TRUSTED_ORIGINS", default="")
SERVED_OVER_HTTPS = env.read_flag("CAREBENCH_HTTPS", default=False)
ENDPOINTS_FILE = env.read_file_path("CAREBENCH_ENDPOINTS_FILE")

INSTALLED_APPS = [
    "carebench_web",
    "judging",
    "annotation",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "axes",
    "csp",
    "django_filters",
    "django_htmx",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "rest_framework",
    "rest_framework.authtoken",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "carebench_web.urls"
WSGI_APPLICATION = "carebench_web.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

DATABASES = {
    "default": dict(env.read_database("DATABASE_URL", default_sqlite=DATA_DIR / "carebench.sqlite3"))
}
USES_SQLITE = DATABASES["default"]["ENGINE"].endswith("sqlite3")
if USES_SQLITE:
    # IMMEDIATE: a read lock cannot be upgraded, so DEFERRED fails under two writers whatever the timeout.
    # FULL: a label's receipt must survive a power cut.
    DATABASES["default"]["OPTIONS"] = {
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;PRAGMA mmap_size=134217728;"
        "PRAGMA cache_size=-20000;PRAGMA temp_store=MEMORY;",
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "annotation.Account"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"

# Limited by account and address together: a flood of bad log-ins locks nobody else out. Only the
# socket's address counts, since a forwarded one can be invented by the sender.
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_CLIENT_IP_CALLABLE = "carebench_web.views.socket_address"
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False
AXES_LOCKOUT_TEMPLATE = "429.html"

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SERVED_OVER_HTTPS
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
if SERVED_OVER_HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 31536000
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "style-src": ["'self'"],
        "script-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "connect-src": ["'self'"],
        "font-src": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'self'"],
    }
}
# The two addresses that import files let them in by `judging.importing.uploads.let_files_in`.
FILE_UPLOAD_HANDLERS = ["carebench_web.no_files.NoFiles"]
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True
LOCALE_PATHS = [BASE_DIR / "locale"]

# WhiteNoise finds the files in the apps themselves; `collectstatic` serves those who put another
# server in front, and its folder need not be there.
warnings.filterwarnings("ignore", message="No directory at:", category=UserWarning)
STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
WHITENOISE_USE_FINDERS = True

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "rest_framework.authentication.SessionAuthentication",
        "rest_framework.authentication.TokenAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["carebench_web.api.IsResearcher"],
    "DEFAULT_PAGINATION_CLASS": "carebench_web.api.Pages",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "EXCEPTION_HANDLER": "carebench_web.api.handle_error",
    # `format` is a parameter of exports; by default it would pick a renderer of the reply.
    "URL_FORMAT_OVERRIDE": None,
    # Exact numbers: the API must show the digits that the page's source has.
    "COERCE_DECIMAL_TO_STRING": True,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "CAREBench Web",
    "DESCRIPTION": "Prompts, responses, labels, verdicts and every number of the benchmark.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    # One word with two sets of values would otherwise get a name from a hash.
    "ENUM_NAME_OVERRIDES": {
        "LabelScaleEnum": "annotation.choices.Scale",
        "RubricScaleEnum": "judging.choices.RubricScale",
        "ResponseStateEnum": "annotation.choices.ResponseState",
        "CampaignStateEnum": "annotation.choices.CampaignState",
        "PassStateEnum": "judging.choices.PassState",
        "VerdictStateEnum": "judging.choices.VerdictState",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

CELERY_BROKER_URL = env.read_broker("CELERY_BROKER_URL")
USES_MEMORY_BROKER = CELERY_BROKER_URL.startswith("memory://")
# The memory broker polls each second unless told otherwise.
CELERY_BROKER_TRANSPORT_OPTIONS = {"polling_interval": 0.05} if USES_MEMORY_BROKER else {}

# Deadlines of one call to a provider, and how long a claimed row stays with its worker.
CALL_CONNECT_S = env.read_number("CAREBENCH_CALL_CONNECT_SECONDS", default=10, least=0.1, most=120)
CALL_READ_S = env.read_number("CAREBENCH_CALL_READ_SECONDS", default=120, least=0.1, most=3600)
CALL_TOTAL_S = env.read_number("CAREBENCH_CALL_TOTAL_SECONDS", default=180, least=0.1, most=3600)
LEASE_S = env.read_number("CAREBENCH_LEASE_SECONDS", default=CALL_TOTAL_S + 30, least=1, most=7200)
# How often and how soon one row is called again. A 429 is no paid attempt and counts by itself.
MAX_ATTEMPTS = int(env.read_number("CAREBENCH_MAX_ATTEMPTS", default=5, least=1, most=20))
MAX_RATE_LIMITED = int(env.read_number("CAREBENCH_MAX_RATE_LIMITED", default=20, least=1, most=100))
BACKOFF_FIRST_S = env.read_number("CAREBENCH_BACKOFF_FIRST_SECONDS", default=1, least=0.01, most=60)
BACKOFF_MOST_S = env.read_number("CAREBENCH_BACKOFF_MOST_SECONDS", default=60, least=0.01, most=3600)
SLOTS_PER_LOOP = int(env.read_number("CAREBENCH_SLOTS_PER_LOOP", default=64, least=1, most=128))
LOOP_SLICE_S = env.read_number("CAREBENCH_LOOP_SLICE_SECONDS", default=600, least=1, most=1000)
USES_ENVIRONMENT_PROXIES = env.read_flag("CAREBENCH_USE_ENVIRONMENT_PROXIES", default=False)

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "annotation": {"level": "INFO"},
        "judging": {"level": "INFO"},
    },
}
