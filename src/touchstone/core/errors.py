"""Every error that the HTTP API can answer with: one exception class each, with its status and a stable code.

A new kind of error response is defined here, and only here is its HTTP status chosen. An error carries facts, not
sentences: the French and English sentence for its code is in `messages/errors.py`, and `http/error_rendering.py`
combines the two into the body of the response.

Errors that are not responses belong to the packages that raise them: those of running jobs to
`learning/learning_errors.py`, that of the Python client to `client/errors.py`. `database/failures.py` converts
exceptions of database drivers into errors of this module.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, TypeAlias

Location: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing that is wrong with a request.

    Attributes:
        loc: path of the offending value, beginning with `body`, `query` or another part of the request.
        kind: key of the explanation in `messages.validation`; also the `type` in the response.
        facts: values for the placeholders of the explanation.
        fallback: explanation of a kind that `messages` does not know.
    """

    loc: Location
    kind: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    fallback: str = ""


class ServiceError(Exception):
    """An error that is reported to the caller.

    Attributes:
        status: HTTP status of the response.
        code: stable English key; also the key of the sentence in `messages`.
        field_errors: what is wrong with the request, one entry for each offending value.
        headers: additional response headers.
        facts: values for the placeholders of the sentence.
    """

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"

    def __init__(self, *field_errors: FieldError, headers: Mapping[str, str] | None = None, **facts: Any) -> None:
        super().__init__(self.code)
        self.field_errors = field_errors
        self.headers = dict(headers or {})
        self.facts = facts


class Unauthorized(ServiceError):
    """No bearer token, or not a valid one."""

    status, code = 401, "unauthorized"

    def __init__(self) -> None:
        super().__init__(headers={"WWW-Authenticate": "Bearer"})


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


class ReviewForbidden(Forbidden):
    """Claims are reviewed by curators; the creator of the record may accept or reject a proposal."""

    code = "review_forbidden"


class OwnClaim(Forbidden):
    """Nobody may confirm a claim of their own."""

    code = "own_claim"


class WithdrawalForbidden(Forbidden):
    """A claim is withdrawn by its author or a curator; what was measured is rejected instead."""

    code = "withdrawal_forbidden"


class NotFound(ServiceError):
    """No such path."""

    status, code = 404, "not_found"


class ProjectNotFound(NotFound):
    """The project does not exist, or belongs to someone else."""

    code = "project_not_found"


class SnapshotNotFound(NotFound):
    """The project has no such snapshot."""

    code = "snapshot_not_found"


class DatasetNotFound(NotFound):
    """The dataset does not exist, or is private to someone else."""

    code = "dataset_not_found"


class ClaimNotFound(NotFound):
    """The dataset that the caller sees has no such claim."""

    code = "claim_not_found"


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

    def __init__(self, *, allowed: Collection[str]) -> None:
        super().__init__(headers={"Allow": ", ".join(sorted(allowed))})


class ReceiveTimeout(ServiceError):
    """The client sent its body too slowly."""

    status, code = 408, "receive_timeout"


class EmailTaken(ServiceError):
    """The e-mail address has an account already."""

    status, code = 409, "email_taken"


class SourceTaken(ServiceError):
    """The owner has another record of this source with this key."""

    status, code = 409, "source_taken"


class LastAdministrator(ServiceError):
    """Nobody would be left to administer the service."""

    status, code = 409, "last_administrator"


class ClaimClosed(ServiceError):
    """The claim has been rejected or withdrawn, or this decision has been made already."""

    status, code = 409, "claim_closed"


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


class ClaimQuotaExceeded(TooLarge):
    """The user has made as many claims as allowed about one dataset, or has too many open proposals."""

    code = "claim_quota_exceeded"


class UnsupportedMedia(ServiceError):
    """The body's media type is not one that this route takes."""

    status, code = 415, "unsupported_media"

    def __init__(self, *, expected: str) -> None:
        super().__init__(expected=expected)


class NotJson(ServiceError):
    """The body is not JSON."""

    status, code = 400, "not_json"


class BadRequest(ServiceError):
    """The request is not well-formed HTTP for this service."""

    status, code = 400, "bad_request"


class Invalid(ServiceError):
    """Validation failed; the sentence says where and why for the first fault, `errors` for each."""

    status, code = 422, "validation_error"


class InvalidValue(Invalid):
    """One named value does not fit."""

    code = "invalid_value"


class UnknownName(Invalid):
    """A parameter, field, criterion, tag or key that does not exist; the sentence names the nearest known ones."""

    code = "unknown_name"


class InvalidWeights(Invalid):
    """The weights cannot be used; the sentence names the criterion."""

    code = "invalid_weights"

    def __init__(self, *, at: Location, reason: str, name: str) -> None:
        super().__init__(FieldError(at, reason), name=name)


class ConflictingValues(Invalid):
    """Two names of one thing carry different values."""

    code = "conflicting_values"

    def __init__(self, *, at: Location, other: str, name: str = "") -> None:
        """Report that the value at `at` contradicts the one called `other`.

        `name` is what the sentence calls the value at `at`: by default the last part of its path.
        """
        name = name or str(at[-1])
        super().__init__(FieldError(at, self.code, {"name": name, "other": other}), name=name, other=other)


class ChosenDatasetNotFound(Invalid):
    """The dataset that a project is to choose does not exist, or is private to someone else."""

    code = "chosen_dataset_not_found"

    def __init__(self) -> None:
        super().__init__(FieldError(("body", "chosen_dataset_id"), "dataset_not_found"))


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


class UnusableDocuments(Invalid):
    """Nothing in the documents of an import can be used."""

    code = "unusable_documents"


class DataFileUnreadable(Invalid):
    """The data file is missing, forbidden, or outside the data folders: one answer for all three."""

    code = "data_file_unreadable"


class InvalidJobRequest(Invalid):
    """A job, or a prediction, that cannot work."""

    code = "invalid_job_request"

    def __init__(self, reason: str, *, field: str = "", facts: Mapping[str, Any] | None = None) -> None:
        """Report why the request cannot be carried out.

        `reason` is a key of `messages.job_errors`, `field` the dotted path of the offending value in the body.
        """
        path = [int(part) if part.isdigit() else part for part in field.split(".") if part]
        super().__init__(FieldError(("body", *path), reason, facts or {}))


class TooManyAttempts(ServiceError):
    """Too many failed sign-ins, wrong reset tokens or registrations from this address."""

    status, code = 429, "too_many_attempts"

    def __init__(self, *, seconds: int) -> None:
        super().__init__(headers={"Retry-After": str(seconds)}, seconds=seconds)


class TooManyJobs(ServiceError):
    """As many jobs of the user wait already as may."""

    status, code = 429, "too_many_jobs"

    def __init__(self, *, limit: int) -> None:
        super().__init__(headers={"Retry-After": "60"}, limit=limit)


class HeadersTooLarge(ServiceError):
    """Too many request headers, or too long ones."""

    status, code = 431, "headers_too_large"


class InternalError(ServiceError):
    """A defect of the service; the log has the request id."""


class Unavailable(ServiceError):
    """The database or a backend cannot be reached now."""

    status, code = 503, "unavailable"

    def __init__(self, retry_after: int = 2, *, headers: Mapping[str, str] | None = None, **facts: Any) -> None:
        super().__init__(headers={"Retry-After": str(retry_after), **(headers or {})}, **facts)


class BackendUnavailable(Unavailable):
    """A backend is down, or not part of this installation."""

    code = "backend_unavailable"

    def __init__(self, *, backend: str, retry_after: int = 2) -> None:
        super().__init__(retry_after, backend=backend)


class Overloaded(Unavailable):
    """More requests than the service works on at once."""

    code = "overloaded"


class CatalogLoading(Unavailable):
    """The catalog is being loaded into memory at the start of the service."""

    code = "catalog_loading"


class IndexBuilding(Unavailable):
    """The text index is being built, so words cannot be searched yet, nor lists be sorted by descriptions."""

    code = "index_building"


class ReportUnavailable(Unavailable):
    """A report could not be typeset, or not within the limits of its process."""

    code = "report_unavailable"


class UpstreamTimeout(ServiceError):
    """A backend was too slow."""

    status, code = 504, "upstream_timeout"


class StorageFull(ServiceError):
    """The disk is full: nothing was written."""

    status, code = 507, "storage_full"


def _subclasses(error_class: type[ServiceError]) -> list[type[ServiceError]]:
    """Return all direct and indirect subclasses of an error class."""
    direct_subclasses = error_class.__subclasses__()
    return direct_subclasses + [error for subclass in direct_subclasses for error in _subclasses(subclass)]


ERRORS: Final = tuple(sorted(_subclasses(ServiceError), key=lambda error: (error.status, error.code)))
