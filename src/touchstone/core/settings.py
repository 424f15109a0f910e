"""The settings of the service, read from `TOUCHSTONE_*` environment variables.

The service does not start if a name is unknown or a value is invalid.
"""

import difflib
import hashlib
import os
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from touchstone.core.client_address import TrustedProxies
from touchstone.core.environment_variable_names import CLIENT_VARIABLES, PREFIX
from touchstone.core.identity_provider import IdentityProvider, parse_identity_providers

MIB: Final = 1024 * 1024
MINIMUM_KEY_BYTES: Final = 32
# More than any machine has, but small enough for the limits of processes and for the integers of the database.
MAXIMUM_BYTES: Final = 2**60
MAXIMUM_JOB_SECONDS: Final = 366 * 86400
# As the database driver reads it: a password ends only at `@`.
_POSTGRESQL_URL: Final = re.compile(
    r"postgresql://([^:/]*(:[^@]*)?@)?(\[[^/\]]*\]|[^/:?]*)(:(?P<port>[^/?]*))?([/?]|$)", re.DOTALL
)
LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


class SettingsError(Exception):
    """An error in the settings. The message is a single line for the operator."""


class Settings(BaseSettings):
    """The settings of the service. Each field is read from the variable `TOUCHSTONE_<NAME>`."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid")

    host: str = Field("127.0.0.1", description="Address to listen on, or `unix:/path` for a socket.")
    socket_group: str | None = Field(
        None, description="Group whose members may open the socket; by default only the user who runs the service."
    )
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on; 0 chooses a free port and prints it.")
    data_dir: Path = Field(
        Path("touchstone-data"), description="Folder for the database, the signing key, uploads and artifacts."
    )
    database_url: str | None = Field(
        None, description="`sqlite:///path` or `postgresql://user@host/name`; by default SQLite in the data folder."
    )
    data_roots: Annotated[tuple[Path, ...], NoDecode] = Field(
        (), description="Colon-separated absolute paths of existing folders whose tables every user may open."
    )
    demo: bool = Field(True, description="Load the demo catalog into an empty database.")
    registration: Literal["open", "closed"] = Field("open", description="Whether people may create their own accounts.")
    public_pages: Literal["open", "closed"] = Field(
        "closed",
        description="Whether search engines and others read the pages of public datasets without signing in.",
    )
    registrations_per_hour: int = Field(100, ge=1, description="Accounts that one client address may create per hour.")
    public_url: str | None = Field(
        None, description="Address at which browsers reach the service, such as `https://data.example.org`."
    )
    oidc_providers: Annotated[tuple[IdentityProvider, ...], NoDecode] = Field(
        (),
        description="JSON object of the OpenID Connect providers for signing in, by name: `issuer`, `client_id`, "
        "`client_secret`, and optionally `label` and `scopes`. They need `TOUCHSTONE_PUBLIC_URL`.",
    )
    signing_key: SecretStr | None = Field(
        None, description="Key for access tokens, at least 32 bytes; by default created in the data folder."
    )
    internal_key: SecretStr | None = Field(
        None, description="Key shared by separately running services, at least 32 bytes."
    )
    selection_url: str | None = Field(
        None, description="Address of a separately running selection service: `http://…` or `unix:/…`."
    )
    training_url: str | None = Field(None, description="Address of a separately running training service.")
    explanation_url: str | None = Field(None, description="Address of a separately running explanation service.")
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Comma-separated origins of other browser clients; never `*`."
    )
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Comma-separated addresses and networks of the reverse proxies whose `X-Forwarded-For` and "
        "`X-Forwarded-Proto` are trusted; `unix` for clients of a socket.",
    )
    access_token_seconds: int = Field(1800, ge=1, le=86400, description="Lifetime of an access token, in seconds.")
    refresh_token_days: int = Field(30, ge=1, le=365, description="Lifetime of an unused session, in days.")
    reset_token_minutes: int = Field(
        60, ge=1, le=1440, description="Lifetime of a token for resetting a password, in minutes."
    )
    body_max_bytes: int = Field(
        4 * MIB, ge=1024, le=MAXIMUM_BYTES, description="Largest request body, except for uploads, in bytes."
    )
    upload_max_bytes: int = Field(200 * MIB, ge=1024, le=MAXIMUM_BYTES, description="Largest uploaded table, in bytes.")
    reserve_bytes: int = Field(
        16 * MIB,
        ge=0,
        le=MAXIMUM_BYTES,
        description="Disk space reserved for signing in and deleting when the disk is full (SQLite); 0: none.",
    )
    upload_quota_bytes: int = Field(
        1024 * MIB, ge=1024, le=MAXIMUM_BYTES, description="Total size of a user's uploads, in bytes."
    )
    record_quota_bytes: int = Field(
        64 * MIB, ge=1024, le=MAXIMUM_BYTES, description="Total size of a user's records, in bytes."
    )
    project_quota_bytes: int = Field(
        16 * MIB, ge=4096, le=MAXIMUM_BYTES, description="Total size of a user's projects, in bytes."
    )
    upstream_timeout_seconds: float = Field(
        30.0, gt=0, le=600, description="Longest wait for the first byte of a backend's response."
    )
    receive_timeout_seconds: float = Field(
        20.0, gt=0, le=600, description="Longest time for a whole request body; uploads have no such limit."
    )
    minimum_rate_bytes: int = Field(
        4096,
        ge=0,
        description="Bytes per second, over four seconds, that a client has to send or read to stay connected.",
    )
    max_uploads: int = Field(
        8, ge=1, description="Uploads received at the same time; further ones are refused with 503."
    )
    connections_per_address: int = Field(
        1000, ge=0, description="Open connections of one client address (an IPv6 /64); 0: no limits per address."
    )
    slow_connections_per_address: int = Field(
        64, ge=0, description="How many of these may send or read slowly at the same time; 0: no limit."
    )
    drain_seconds: float = Field(
        10.0, ge=0, le=600, description="Time for running requests to finish when the service stops."
    )
    max_concurrency: int = Field(64, ge=1, description="Requests processed at the same time.")
    queue_seconds: float = Field(
        1.0,
        gt=0,
        le=60,
        description="Longest wait of a request; it is refused with 503 if the work ahead takes 3 % of this time.",
    )
    profile_wait_seconds: float = Field(
        3.0,
        gt=0,
        le=600,
        description="Longest wait of a request for the profile of a data file; a longer one is completed afterwards.",
    )
    profile_seconds: float = Field(300.0, gt=0, le=3600, description="Longest time for profiling one data file.")
    document_seconds: float = Field(20.0, gt=0, le=600, description="Longest time for reading one metadata document.")
    profile_memory_bytes: int = Field(
        2048 * MIB, ge=256 * MIB, le=MAXIMUM_BYTES, description="Memory of the profiling process."
    )
    executor: Literal["local", "ray"] = Field(
        "local", description="Where jobs run: in child processes, or on Ray (extra `ray`)."
    )
    ray_address: str | None = Field(
        None, description="Address of a Ray cluster; by default one is started. It needs `TOUCHSTONE_EXECUTOR=ray`."
    )
    job_workers: int = Field(
        1, ge=0, le=64, description="Jobs that this process runs at the same time; 0: it only accepts them."
    )
    jobs_per_user: int = Field(2, ge=1, description="Jobs of one user that run at the same time; further ones wait.")
    jobs_waiting_per_user: int = Field(
        100, ge=1, description="Jobs of one user that may wait; further ones are refused with 429."
    )
    job_memory_bytes: int = Field(
        8192 * MIB, ge=512 * MIB, le=MAXIMUM_BYTES, description="Memory of the process of one job."
    )
    job_seconds: int = Field(
        3600, ge=1, le=MAXIMUM_JOB_SECONDS, description="Longest running time of one job, in seconds."
    )
    job_lease_seconds: float = Field(
        10.0, ge=1, le=300, description="Time after which the job of a silent worker is queued again."
    )
    metrics_host: str = Field("127.0.0.1", description="Address at which Prometheus fetches `/metrics`.")
    metrics_port: int = Field(9464, ge=0, le=65535, description="Port of `/metrics`; 0 switches it off.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Lowest level that is logged.")
    log_format: Literal["auto", "json", "console"] = Field(
        "auto", description="JSON lines or readable lines; `auto` chooses by whether the output is a terminal."
    )

    # Pydantic calls the last of several "before" validators first, so an empty list is no longer a string here.
    @field_validator("*", mode="before")
    @classmethod
    def _refuse_empty_value(cls, value: Any) -> Any:
        """Refuse an empty string, which would be an address or a folder that the operator did not choose."""
        if isinstance(value, str) and not value.strip():
            raise ValueError("the value is empty; remove the variable to use the default")
        return value

    @field_validator("data_roots", mode="before")
    @classmethod
    def _split_at_colons(cls, value: Any) -> Any:
        """Split a string such as `/data:/more` into folders, and leave other types to Pydantic."""
        if not isinstance(value, str):
            return value
        return tuple(Path(folder) for folder in value.split(":") if folder)

    @field_validator("cors_origins", "trusted_proxies", mode="before")
    @classmethod
    def _split_at_commas(cls, value: Any) -> Any:
        """Split a string such as `10.0.0.1, unix` into entries, and leave other types to Pydantic."""
        if not isinstance(value, str):
            return value
        entries = (entry.strip() for entry in value.split(","))
        return tuple(entry for entry in entries if entry)

    @field_validator("data_roots")
    @classmethod
    def _check_data_roots(cls, folders: tuple[Path, ...]) -> tuple[Path, ...]:
        """Refuse relative paths, and folders that do not exist."""
        for folder in folders:
            if not folder.is_absolute() or not folder.is_dir():
                raise ValueError(f"{str(folder)!r} is not the absolute path of an existing folder")
        return folders

    @field_validator("public_url")
    @classmethod
    def _normalize_public_url(cls, url: str | None) -> str | None:
        """Write the public address as an origin, because the service is always at the root of its host."""
        return None if url is None else _normalize_origin(url)

    @field_validator("oidc_providers", mode="before")
    @classmethod
    def _parse_providers(cls, value: Any) -> Any:
        """Parse a JSON object of providers, and leave other types to Pydantic."""
        return parse_identity_providers(value) if isinstance(value, str) and value.strip() else value

    @field_validator("oidc_providers")
    @classmethod
    def _require_public_url(
        cls, providers: tuple[IdentityProvider, ...], info: ValidationInfo
    ) -> tuple[IdentityProvider, ...]:
        """Refuse providers without a public address, to which they have to send users back."""
        # An invalid address is missing here, too, but has an error of its own, which is reported first.
        if providers and not info.data.get("public_url"):
            raise ValueError("providers need TOUCHSTONE_PUBLIC_URL, the address to which they send users back")
        return providers

    @field_validator("ray_address")
    @classmethod
    def _require_ray_executor(cls, address: str | None, info: ValidationInfo) -> str | None:
        """Refuse the address of a cluster that would not be used, because the jobs run on this machine."""
        # An invalid executor is missing here, too, but has an error of its own, which is reported first.
        if address is not None and info.data.get("executor") == "local":
            raise ValueError("jobs run on a Ray cluster only with TOUCHSTONE_EXECUTOR=ray")
        return address

    @field_validator("cors_origins")
    @classmethod
    def _normalize_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        """Write origins as browsers send them, and refuse what is not an origin."""
        return tuple(_normalize_origin(origin) for origin in origins)

    @field_validator("trusted_proxies")
    @classmethod
    def _check_proxies(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        """Check that all entries are valid. The parsed value is in `proxies`."""
        TrustedProxies.parse(names)
        return names

    @field_validator("signing_key", "internal_key")
    @classmethod
    def _check_key_length(cls, key: SecretStr | None) -> SecretStr | None:
        """Refuse keys that could be guessed because they are too short."""
        if key is not None and len(key.get_secret_value().encode()) < MINIMUM_KEY_BYTES:
            raise ValueError(f"a key has at least {MINIMUM_KEY_BYTES} bytes")
        return key

    @field_validator("database_url")
    @classmethod
    def _check_database_url(cls, url: str | None) -> str | None:
        """Refuse unsupported databases, in-memory databases, and options for SQLite, which would be ignored."""
        if url is None:
            return None

        parsed_url = urlsplit(url)
        if parsed_url.scheme not in ("sqlite", "postgresql"):
            raise ValueError("a database URL begins with sqlite:/// or postgresql://")
        if parsed_url.scheme == "postgresql":
            _check_postgresql_url(url)
            return url

        # Each connection would open a separate in-memory database.
        is_in_memory = parsed_url.path in ("", "/", "/:memory:")
        if is_in_memory or parsed_url.query:
            raise ValueError("the URL of an SQLite database is sqlite:///path, without options")
        return url

    @field_validator("selection_url", "training_url", "explanation_url")
    @classmethod
    def _check_backend_url(cls, url: str | None) -> str | None:
        """Refuse backend addresses that are neither HTTP URLs nor unix sockets."""
        if url is None or url.startswith("unix:/"):
            return url

        parsed_url = urlsplit(url)
        if parsed_url.scheme not in ("http", "https") or not parsed_url.hostname:
            raise ValueError("an address is http://host:port, https://host:port or unix:/path")
        return url

    @property
    def listens_locally(self) -> bool:
        """Whether the listener can only be reached from this machine."""
        return self.host in LOOPBACK or self.host.startswith(("unix:", "127."))

    @property
    def proxies(self) -> TrustedProxies:
        """The reverse proxies whose forwarding headers are trusted."""
        return TrustedProxies.parse(self.trusted_proxies)

    @property
    def effective_database_url(self) -> str:
        """The URL of the database, which by default is an SQLite file in the data folder."""
        return self.database_url or f"sqlite:///{(self.data_dir / 'touchstone.db').absolute()}"

    @property
    def uploads_dir(self) -> Path:
        """The folder for uploaded tables."""
        return self.data_dir / "uploads"

    @property
    def index_file(self) -> Path:
        """The file for the index of a large catalog, with a different name for each database."""
        digest = hashlib.sha256(self.effective_database_url.encode()).hexdigest()
        return self.data_dir / f"catalog-{digest[:16]}.index"

    @property
    def artifacts_dir(self) -> Path:
        """The folder for the artefacts of jobs."""
        return self.data_dir / "artifacts"

    @classmethod
    def load(cls, environment: Mapping[str, str] | None = None) -> Self:
        """Read the settings from environment variables, such as `TOUCHSTONE_PORT=8080`.

        Args:
            environment: the environment variables, or None for the ones of this process.

        Raises:
            SettingsError: a `TOUCHSTONE_` variable is not a setting, or its value is invalid.
        """
        variables = os.environ if environment is None else environment

        names = [name for name in variables if name.startswith(PREFIX) and name not in CLIENT_VARIABLES]
        _check_names(names, known_suffixes=[field.upper() for field in cls.model_fields])

        values: dict[str, Any] = {}
        for name in names:
            field = name.removeprefix(PREFIX).lower()
            values[field] = variables[name]

        try:
            return cls(**values)
        except ValidationError as error:
            raise SettingsError(_describe_first_error(error)) from None


def _check_postgresql_url(url: str) -> None:
    """Refuse a URL that the database driver could not read, without quoting it, because it may contain a password.

    Raises:
        ValueError: the URL has no `//`, or its port is not a number.
    """
    match = _POSTGRESQL_URL.match(url)
    if match is None:
        raise ValueError("the URL of a PostgreSQL database is postgresql://user:password@host:port/name")
    if match["port"] and not match["port"].isdecimal():
        raise ValueError("the port of the database is not a number")


def _normalize_origin(text: str) -> str:
    """Return an origin in lower case, without a final slash and without the default port of its scheme.

    Raises:
        ValueError: the text is not an origin, or has a wildcard, which would let any site act for a signed-in user.
    """
    origin = text.removesuffix("/").lower()
    parsed = urlsplit(origin)

    has_only_host = origin == f"{parsed.scheme}://{parsed.netloc}" and "@" not in parsed.netloc
    if parsed.scheme not in ("http", "https") or not parsed.hostname or not has_only_host or "*" in origin:
        raise ValueError(f"{text!r} is not an origin such as https://app.example.org")
    return origin.removesuffix(":443" if parsed.scheme == "https" else ":80")


def _check_names(names: Iterable[str], *, known_suffixes: Collection[str]) -> None:
    """Check that all environment variables are settings, to detect misspelt names.

    Args:
        names: the names of the variables.
        known_suffixes: the names of all settings without the prefix `TOUCHSTONE_`.

    Raises:
        SettingsError: a variable is not a setting. The message suggests a similar name, if there is one.
    """
    for name in names:
        suffix = name.removeprefix(PREFIX)
        if suffix in known_suffixes:
            continue

        similar_suffixes = difflib.get_close_matches(suffix, known_suffixes, n=1)
        if similar_suffixes:
            raise SettingsError(f"{name} is not a setting; did you mean {PREFIX}{similar_suffixes[0]}?")
        raise SettingsError(f"{name} is not a setting.")


def _describe_first_error(error: ValidationError) -> str:
    """Return a message with the first invalid variable and the reason why it is invalid."""
    first_error = error.errors()[0]
    field = str(first_error["loc"][0]) if first_error["loc"] else ""
    reason = first_error["msg"].removeprefix("Value error, ")
    return f"{PREFIX}{field.upper()}: {reason}"
