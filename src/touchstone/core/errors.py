"""The errors of the HTTP API, as exception classes with an HTTP status and a stable code.

The errors of identity providers are in `identity_provider_errors.py`, and `error_table.py` lists all of them.

An error contains facts instead of sentences. The French and English sentences for each code are in
`messages/errors.py`, and `http/error_rendering.py` renders them with the facts into the body of the response.
`database/failures.py` converts exceptions of database drivers to errors of this module. Errors of running jobs are in
`learning/learning_errors.py`, and errors of the Python client in `client/errors.py`.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

Location: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class FieldError:
    """An invalid value in a request.

    Attributes:
        loc: the path of the value, beginning with the part of the request, such as `body` or `query`.
        kind: the key of the explanation in `messages.validation`, which is also the `type` in the response.
        facts: the values for the placeholders of the explanation.
        fallback: the explanation if `messages` does not contain this kind.
    """

    loc: Location
    kind: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    fallback: str = ""


class ServiceError(Exception):
    """An error that is reported to the caller.

    Attributes:
        status: the HTTP status of the response.
        code: a stable English key, which is also the key of the sentence in `messages`.
        field_errors: one entry for each invalid value in the request.
        headers: additional response headers.
        facts: the values for the placeholders of the sentence.
    """

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"

    def __init__(self, *field_errors: FieldError, headers: Mapping[str, str] | None = None, **facts: Any) -> None:
        super().__init__(self.code)
        self.field_errors = field_errors
        self.headers = dict(headers or {})
        self.facts = facts


class Unauthorized(ServiceError):
    """There is no valid bearer token."""

    status, code = 401, "unauthorized"

    def __init__(self) -> None:
        super().__init__(headers={"WWW-Authenticate": "Bearer"})


class InvalidUserId(Unauthorized):
    """`X-User-ID` is missing, repeated or not a UUID."""

    code = "invalid_user_id"


class InvalidCredentials(Unauthorized):
    """The address is unknown, the password is wrong, or the user is inactive. The response does not say which."""

    code = "invalid_credentials"


class InvalidRefreshToken(Unauthorized):
    """The refresh token is unknown, used, expired or revoked."""

    code = "invalid_refresh_token"


class InvalidInternalToken(Unauthorized):
    """A backend with a key was called without the gateway's token."""

    code = "invalid_internal_token"


class Forbidden(ServiceError):
    """The caller may read this, but not change it."""

    status, code = 403, "forbidden"


class RegistrationClosed(Forbidden):
    """Users may not create their own accounts."""

    code = "registration_closed"


class AdministratorsOnly(Forbidden):
    """Only administrators may use this route."""

    code = "administrators_only"


class ReviewForbidden(Forbidden):
    """Only curators may review claims. The creator of the record may decide about proposals and revoke acceptances."""

    code = "review_forbidden"


class OwnClaim(Forbidden):
    """Users may not confirm their own claims."""

    code = "own_claim"


class WithdrawalForbidden(Forbidden):
    """Only its author or a curator may withdraw a claim. A measured claim can only be rejected."""

    code = "withdrawal_forbidden"


class NotFound(ServiceError):
    """The path does not exist."""

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
    """The dataset does not exist for the caller, or has no such claim."""

    code = "claim_not_found"


class UploadNotFound(NotFound):
    """The file does not exist, or was uploaded by someone else."""

    code = "upload_not_found"


class JobNotFound(NotFound):
    """The job does not exist, or belongs to someone else."""

    code = "job_not_found"


class ArtifactNotFound(NotFound):
    """The job has no artefact with this name."""

    code = "artifact_not_found"


class ModelGone(NotFound):
    """The model does not exist any more, because its training was deleted."""

    code = "model_gone"


class SessionNotFound(NotFound):
    """The session does not exist, or belongs to someone else."""

    code = "session_not_found"


class UserNotFound(NotFound):
    """The user does not exist."""

    code = "user_not_found"


class PictureNotFound(NotFound):
    """The user has no picture."""

    code = "picture_not_found"


class MethodNotAllowed(ServiceError):
    """The path does not support this method."""

    status, code = 405, "method_not_allowed"

    def __init__(self, *, allowed: Collection[str]) -> None:
        super().__init__(headers={"Allow": ", ".join(sorted(allowed))})


class ReceiveTimeout(ServiceError):
    """The client sent its body too slowly."""

    status, code = 408, "receive_timeout"


class EmailTaken(ServiceError):
    """There is already an account with this e-mail address."""

    status, code = 409, "email_taken"


class SourceTaken(ServiceError):
    """The owner already has a record with this source and key."""

    status, code = 409, "source_taken"


class LastAdministrator(ServiceError):
    """No active administrator would be left."""

    status, code = 409, "last_administrator"


class ClaimClosed(ServiceError):
    """The claim has been rejected or withdrawn, or the same decision has already been made."""

    status, code = 409, "claim_closed"


class IdempotencyConflict(ServiceError):
    """The Idempotency-Key has been used for a different request."""

    status, code = 409, "idempotency_conflict"


class JobNotFinal(ServiceError):
    """Only a job in a final state can be deleted."""

    status, code = 409, "job_not_final"


class JobNotSucceeded(ServiceError):
    """The job has no model, because it has not succeeded."""

    status, code = 409, "job_not_succeeded"


class PreconditionFailed(ServiceError):
    """`If-Match` does not contain the current version."""

    status, code = 412, "precondition_failed"


class TooLarge(ServiceError):
    """The body is larger than allowed."""

    status, code = 413, "too_large"


class QuotaExceeded(TooLarge):
    """The user's uploads would exceed their total size limit."""

    code = "quota_exceeded"


class RecordQuotaExceeded(TooLarge):
    """The user's records would exceed their total size limit."""

    code = "record_quota_exceeded"


class ProjectQuotaExceeded(TooLarge):
    """The user's projects would exceed their total size limit."""

    code = "project_quota_exceeded"


class ClaimQuotaExceeded(TooLarge):
    """The user has made too many claims about the dataset, or has too many open proposals."""

    code = "claim_quota_exceeded"


class UnsupportedMedia(ServiceError):
    """The route does not accept the media type of the body, or the body is compressed."""

    status, code = 415, "unsupported_media"


class NotJson(ServiceError):
    """The body is not JSON."""

    status, code = 400, "not_json"


class BadRequest(ServiceError):
    """The request is not well-formed HTTP for this service."""

    status, code = 400, "bad_request"


class Invalid(ServiceError):
    """The request is invalid. The sentence explains the first error, and `errors` lists all of them."""

    status, code = 422, "validation_error"


class InvalidValue(Invalid):
    """A value in the request is not acceptable."""

    code = "invalid_value"


class UnknownName(Invalid):
    """A parameter, field, criterion, tag or key does not exist. The sentence suggests similar ones."""

    code = "unknown_name"


class InvalidWeights(Invalid):
    """A weight is not acceptable. The sentence names its criterion."""

    code = "invalid_weights"

    def __init__(self, *, at: Location, reason: str, name: str) -> None:
        super().__init__(FieldError(at, reason), name=name)


class ConflictingValues(Invalid):
    """A value has been given under two names, but the two values differ."""

    code = "conflicting_values"

    def __init__(self, *, at: Location, other: str, name: str = "") -> None:
        """Report that the value at `at` contradicts the value named `other`.

        `name` is the name of the value at `at` in the sentence, which is the last part of its path by default.
        """
        name = name or str(at[-1])
        super().__init__(FieldError(at, self.code, {"name": name, "other": other}), name=name, other=other)


class ChosenDatasetNotFound(Invalid):
    """The dataset chosen for a project does not exist, or is private to someone else."""

    code = "chosen_dataset_not_found"

    def __init__(self) -> None:
        super().__init__(FieldError(("body", "chosen_dataset_id"), "dataset_not_found"))


class WeakPassword(Invalid):
    """The password is too short, too long, too common, or equal to the e-mail address."""

    code = "weak_password"


class WrongPassword(Invalid):
    """The current password is wrong, so it is not changed."""

    code = "wrong_password"


class NoPassword(Invalid):
    """The account has no password that could be changed, because its user signs in with an identity provider."""

    code = "no_password"


class InvalidResetToken(Invalid):
    """The reset token is unknown, used or expired."""

    code = "invalid_reset_token"


class InvalidPicture(Invalid):
    """The picture is not a readable PNG, JPEG or WebP image, or has too many pixels."""

    code = "invalid_picture"


class UnusableDocuments(Invalid):
    """Nothing in the documents of an import can be used."""

    code = "unusable_documents"


class DataFileUnreadable(Invalid):
    """The data file is missing, forbidden, or outside the data folders. The response does not say which."""

    code = "data_file_unreadable"


class InvalidJobRequest(Invalid):
    """The job or the prediction cannot be carried out."""

    code = "invalid_job_request"

    def __init__(self, reason: str, *, field: str = "", facts: Mapping[str, Any] | None = None) -> None:
        """Report why the request cannot be carried out.

        Args:
            reason: a key in `messages.job_errors`.
            field: the dotted path of the invalid value in the body, or an empty string for the whole body.
            facts: the values for the placeholders of the message.
        """
        path = [int(part) if part.isdigit() else part for part in field.split(".") if part]
        super().__init__(FieldError(("body", *path), reason, facts or {}))


class TooManyAttempts(ServiceError):
    """Too many failed sign-ins, wrong reset tokens or registrations from this address."""

    status, code = 429, "too_many_attempts"

    def __init__(self, *, seconds: int) -> None:
        super().__init__(headers={"Retry-After": str(seconds)}, seconds=seconds)


class TooManyJobs(ServiceError):
    """The user already has the maximum number of waiting jobs."""

    status, code = 429, "too_many_jobs"

    def __init__(self, *, limit: int) -> None:
        super().__init__(headers={"Retry-After": "60"}, limit=limit)


class HeadersTooLarge(ServiceError):
    """The request headers are too many, or they or the address are too long."""

    status, code = 431, "headers_too_large"


class InternalError(ServiceError):
    """The service has a defect. The log contains the request id."""


class Unavailable(ServiceError):
    """The database or a backend cannot be reached."""

    status, code = 503, "unavailable"

    def __init__(self, retry_after: int = 2, *, headers: Mapping[str, str] | None = None, **facts: Any) -> None:
        super().__init__(headers={"Retry-After": str(retry_after), **(headers or {})}, **facts)


class BackendUnavailable(Unavailable):
    """A backend is unavailable or not part of this installation."""

    code = "backend_unavailable"

    def __init__(self, *, backend: str, retry_after: int = 2) -> None:
        super().__init__(retry_after, backend=backend)


class Overloaded(Unavailable):
    """There are more requests than the service can process."""

    code = "overloaded"


class CatalogLoading(Unavailable):
    """The catalog is being loaded into memory at the start of the service."""

    code = "catalog_loading"


class IndexBuilding(Unavailable):
    """The text index is being built, so text search and sorting by description are not possible yet."""

    code = "index_building"


class ReportUnavailable(Unavailable):
    """A report could not be typeset within the limits of its process."""

    code = "report_unavailable"


class UpstreamTimeout(ServiceError):
    """A backend did not respond in time."""

    status, code = 504, "upstream_timeout"


class StorageFull(ServiceError):
    """The disk is full, so nothing was written."""

    status, code = 507, "storage_full"
