"""Every refusal of the service: one class each, with its HTTP status and a stable code whose text is in `messages`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from touchstone.messages import FRENCH_ONLY, job_error_text, text, validation_text

_WHOLES: Final = {"query": "whole_query", "path": "whole_path"}


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing that is wrong with a request.

    Attributes:
        loc: where it is, from `body` or `query` inwards.
        kind: key of the sentence in `messages.validation` that says why; also the `type` in the answer.
        facts: what fills the placeholders of the sentence.
        fallback: the sentence of a kind that has none of ours.
    """

    loc: tuple[str | int, ...]
    kind: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    fallback: str = ""

    def sentence(self, locale: str) -> str:
        """Return why it does not fit, for people."""
        return validation_text(self.kind, self.fallback, self.facts, locale)

    def place(self, locale: str) -> str:
        """Return where it is, for people: the path of the field, or a name of the whole that it is in."""
        _, *inner = self.loc or ("body",)
        if inner:
            return ".".join(map(str, inner))
        return validation_text(_WHOLES.get(str(self.loc[0]) if self.loc else "", "whole_body"), "", None, locale)

    def shown(self, locale: str) -> dict[str, Any]:
        """Return it as the answer's JSON object."""
        return {"loc": list(self.loc), "msg": self.sentence(locale), "type": self.kind}


# What logs and counters show for a request whose client went away before it was answered; it is never sent.
CLIENT_DISCONNECTED: Final = 499


class ServiceError(Exception):
    """A refusal that the caller is told about. `facts` fill the placeholders of its sentence.

    Attributes:
        status: HTTP status of the answer.
        code: stable English key; also the key of the sentence in `messages`.
        errors: details `{loc, msg, type}`, one for each thing that is wrong.
        headers: extra response headers.
    """

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"

    def __init__(
        self, *, errors: list[dict[str, Any]] | None = None, headers: dict[str, str] | None = None, **facts: Any
    ) -> None:
        super().__init__(self.code)
        self.facts = facts
        self.errors = errors or []
        self.headers = headers or {}

    def detail(self, locale: str) -> str:
        """The sentence for people, in French or English; three sentences are fixed by the interface."""
        return text(self.code, "fr" if self.code in FRENCH_ONLY else locale, **self.facts)

    def body(self, locale: str) -> dict[str, Any]:
        """The answer's JSON object `{detail, code, errors}`."""
        return {"detail": self.detail(locale), "code": self.code, "errors": self.errors}


class Unauthorized(ServiceError):
    """No bearer token, or not a valid one."""

    status, code = 401, "unauthorized"

    def __init__(self, **facts: Any) -> None:
        super().__init__(headers={"WWW-Authenticate": "Bearer"}, **facts)


class InvalidUserId(Unauthorized):
    """`X-User-ID` is missing, repeated or not a UUID."""

    code = "invalid_user_id"


class InvalidCredentials(Unauthorized):
    """Sign-in with an unknown address, a wrong password, or by an inactive user: one answer for all three."""

    code = "invalid_credentials"


class InvalidRefreshToken(Unauthorized):
    """A refresh token that is unknown, used, expired or revoked."""

    code = "invalid_refresh_token"


class InvalidInternalToken(Unauthorized):
    """A backend with a key was called without the gateway's token."""

    code = "invalid_internal_token"


class Forbidden(ServiceError):
    """The caller may see this, but not change it."""

    status, code = 403, "forbidden"


class RegistrationClosed(Forbidden):
    """Self-registration is switched off."""

    code = "registration_closed"


class AdministratorsOnly(Forbidden):
    """The route is for administrators."""

    code = "administrators_only"


class NotFound(ServiceError):
    """No such path."""

    status, code = 404, "not_found"


class ProjectNotFound(NotFound):
    """The project does not exist, or belongs to someone else."""

    code = "project_not_found"


class DatasetNotFound(NotFound):
    """The dataset does not exist, or is private to someone else."""

    code = "dataset_not_found"


class UploadNotFound(NotFound):
    """The file does not exist, or was uploaded by someone else."""

    code = "upload_not_found"


class JobNotFound(NotFound):
    """The job does not exist, or belongs to someone else."""

    code = "job_not_found"


class ArtifactNotFound(NotFound):
    """The job has no artefact of this name."""

    code = "artifact_not_found"


class ModelGone(NotFound):
    """The model is not where the training left it: the training was deleted."""

    code = "model_gone"


class SessionNotFound(NotFound):
    """The session does not exist, or belongs to someone else."""

    code = "session_not_found"


class UserNotFound(NotFound):
    """No such user."""

    code = "user_not_found"


class PictureNotFound(NotFound):
    """The user has no picture."""

    code = "picture_not_found"


class MethodNotAllowed(ServiceError):
    """The path exists, the method does not."""

    status, code = 405, "method_not_allowed"


class ReceiveTimeout(ServiceError):
    """The client sent its body too slowly."""

    status, code = 408, "receive_timeout"


class EmailTaken(ServiceError):
    """The e-mail address has an account already."""

    status, code = 409, "email_taken"


class LastAdministrator(ServiceError):
    """Nobody would be left to administer the service."""

    status, code = 409, "last_administrator"


class IdempotencyConflict(ServiceError):
    """The same Idempotency-Key came with another request."""

    status, code = 409, "idempotency_conflict"


class JobNotFinal(ServiceError):
    """Only a job in a final state can be deleted."""

    status, code = 409, "job_not_final"


class JobNotSucceeded(ServiceError):
    """The job has no model: it has not succeeded."""

    status, code = 409, "job_not_succeeded"


class PreconditionFailed(ServiceError):
    """`If-Match` names another version."""

    status, code = 412, "precondition_failed"


class TooLarge(ServiceError):
    """The body is larger than allowed."""

    status, code = 413, "too_large"


class QuotaExceeded(TooLarge):
    """The user's uploads together are larger than allowed."""

    code = "quota_exceeded"


class RecordQuotaExceeded(TooLarge):
    """The user's records together are larger than allowed."""

    code = "record_quota_exceeded"


class ProjectQuotaExceeded(TooLarge):
    """The user's projects together are larger than allowed."""

    code = "project_quota_exceeded"


class UnsupportedMedia(ServiceError):
    """The body's media type is not one that this route takes."""

    status, code = 415, "unsupported_media"


class NotJson(ServiceError):
    """The body is not JSON."""

    status, code = 400, "not_json"


class BadRequest(ServiceError):
    """The request is not well-formed HTTP for this service."""

    status, code = 400, "bad_request"


class Invalid(ServiceError):
    """Validation failed; the sentence says where and why for the first fault, `errors` for each."""

    status, code = 422, "validation_error"

    def __init__(self, *faults: FieldError, **facts: Any) -> None:
        super().__init__(**facts)
        self.faults = faults

    def detail(self, locale: str) -> str:
        """The sentence for people."""
        if not self.faults:
            return super().detail(locale)
        first = self.faults[0]
        return text(self.code, locale, where=first.place(locale), why=first.sentence(locale), **self.facts)

    def body(self, locale: str) -> dict[str, Any]:
        """The answer's JSON object."""
        return super().body(locale) | {"errors": [fault.shown(locale) for fault in self.faults]}


class InvalidValue(Invalid):
    """One named value does not fit."""

    code = "invalid_value"


class UnknownName(Invalid):
    """A parameter, field, criterion, tag or key that does not exist; the sentence names the nearest known ones."""

    code = "unknown_name"

    def detail(self, locale: str) -> str:
        """The sentence for people."""
        return self.faults[0].sentence(locale)


class InvalidWeights(Invalid):
    """The weights cannot be used; the facts give the `name` of the criterion."""

    code = "invalid_weights"


class ConflictingValues(Invalid):
    """Two names of one thing carry different values."""

    code = "conflicting_values"

    def __init__(self, *loc: str | int, name: str, other: str) -> None:
        super().__init__(FieldError(loc, self.code, {"name": name, "other": other}), name=name, other=other)


class ChosenDatasetNotFound(Invalid):
    """The dataset that a project is to choose does not exist, or is private to someone else."""

    code = "chosen_dataset_not_found"


class WeakPassword(Invalid):
    """The password is too short, too long, too common, or the address itself."""

    code = "weak_password"


class WrongPassword(Invalid):
    """The current password given for a change is wrong."""

    code = "wrong_password"


class InvalidResetToken(Invalid):
    """The reset token is unknown, used or expired."""

    code = "invalid_reset_token"


class InvalidPicture(Invalid):
    """The picture is not a PNG, JPEG or WebP image that can be read."""

    code = "invalid_picture"


class DataFileUnreadable(Invalid):
    """The data file is missing, forbidden, or outside the data folders: one answer for all three."""

    code = "data_file_unreadable"


class InvalidJobRequest(Invalid):
    """A job, or a prediction, that cannot work.

    `reason` is the key of the sentence that says why, `where` the place in the body, in dotted form.
    """

    code = "invalid_job_request"

    def __init__(self, *, reason: str, where: str = "", **facts: Any) -> None:
        super().__init__(**facts)
        self.reason = reason
        self.where = where

    def detail(self, locale: str) -> str:
        """The sentence for people."""
        return text(self.code, locale, reason=job_error_text(self.reason, self.facts, locale))

    def body(self, locale: str) -> dict[str, Any]:
        """The answer's JSON object; its one detail has the reason as its type."""
        loc = ["body", *(int(part) if part.isdigit() else part for part in self.where.split(".") if part)]
        why = {"loc": loc, "msg": job_error_text(self.reason, self.facts, locale), "type": self.reason}
        return super().body(locale) | {"errors": [why]}


class TooManyAttempts(ServiceError):
    """Too many failed sign-ins, wrong reset tokens or registrations from this address."""

    status, code = 429, "too_many_attempts"


class TooManyJobs(ServiceError):
    """As many jobs of the user wait already as may."""

    status, code = 429, "too_many_jobs"

    def __init__(self, **facts: Any) -> None:
        super().__init__(headers={"Retry-After": "60"}, **facts)


class HeadersTooLarge(ServiceError):
    """Too many request headers, or too long ones."""

    status, code = 431, "headers_too_large"


class InternalError(ServiceError):
    """A defect of the service; the log has the request id."""


class Unavailable(ServiceError):
    """The database or a backend cannot be reached now."""

    status, code = 503, "unavailable"

    def __init__(self, retry_after: int = 2, *, headers: dict[str, str] | None = None, **facts: Any) -> None:
        super().__init__(headers={"Retry-After": str(retry_after)} | (headers or {}), **facts)


class BackendUnavailable(Unavailable):
    """A backend is down, or not part of this installation."""

    code = "backend_unavailable"


class Overloaded(Unavailable):
    """More requests than the service works on at once."""

    code = "overloaded"


class UpstreamTimeout(ServiceError):
    """A backend was too slow."""

    status, code = 504, "upstream_timeout"


class StorageFull(ServiceError):
    """The disk is full: nothing was written."""

    status, code = 507, "storage_full"


def _descendants(parent: type[ServiceError]) -> tuple[type[ServiceError], ...]:
    children = parent.__subclasses__()
    return tuple(children) + tuple(found for child in children for found in _descendants(child))


ERRORS: tuple[type[ServiceError], ...] = tuple(sorted(_descendants(ServiceError), key=lambda e: (e.status, e.code)))
