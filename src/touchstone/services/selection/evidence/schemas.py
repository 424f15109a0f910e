"""Schemas of claims and reviews: the request bodies, and the responses as documented by OpenAPI."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, Self
from uuid import UUID

from fastapi.exceptions import RequestValidationError
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from touchstone.core.attributes import BY_NAME
from touchstone.core.errors import FieldError, InvalidValue
from touchstone.core.evidence import CLAIMED_ATTRIBUTES, ClaimValue, EvidenceLevel
from touchstone.http.request_models import Flag, RequestModel, ShortText, require_clean_text
from touchstone.http.spelling_suggestions import unknown_value_error
from touchstone.services.selection.datasets.schemas import PersonView, request_type
from touchstone.services.selection.evidence.attribute_states import AttributeState
from touchstone.services.selection.evidence.claim_records import (
    ClaimDraft,
    ClaimRecord,
    ClaimSource,
    ClaimStatus,
    Decision,
)
from touchstone.services.selection.user_name_store import Pseudos, person_json

MAX_QUOTE_LENGTH: Final = 4000
MAX_PLACE_LENGTH: Final = 1000
MAX_URL_LENGTH: Final = 2000
# The validators of the values of claims, by attribute.
_VALUE_VALIDATORS: Final = {name: TypeAdapter[Any](request_type(BY_NAME[name])) for name in CLAIMED_ATTRIBUTES}
_VALUE_SCHEMA: Final = {"anyOf": [{"type": "boolean"}, {"type": "number"}, {"type": "null"}]}
_CLAIM_EXAMPLE: Final[dict[str, JsonValue]] = {
    "attribute": "informed_consent",
    "value": True,
    "quote": "All participants gave written informed consent.",
    "place": "Ethics > Consent",
    "source": {"kind": "datasheet", "name": "Datasheet of the cohort", "url": "https://example.org/datasheet.md"},
}


def _parse_time(value: Any) -> datetime | None:
    """Parse an RFC 3339 date and time with a time zone, and convert it to UTC. None is returned unchanged.

    Raises:
        ValueError: the value is not a string in this format.
    """
    if value is None:
        return None

    try:
        timestamp = datetime.fromisoformat(value)
        if timestamp.tzinfo is not None:
            return timestamp.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        pass

    raise PydanticCustomError("time_expected", "a date and time with its time zone is expected")


_TIME_SCHEMA: Final = {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}
Time = Annotated[Any, AfterValidator(_parse_time), WithJsonSchema(_TIME_SCHEMA)]
Quote = Annotated[str, Field(max_length=MAX_QUOTE_LENGTH), AfterValidator(require_clean_text)]
Place = Annotated[str, Field(max_length=MAX_PLACE_LENGTH), AfterValidator(require_clean_text)]
Url = Annotated[str, Field(max_length=MAX_URL_LENGTH), AfterValidator(require_clean_text)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def _none_if_blank(text: str | None) -> str | None:
    """Return None for a string without any visible character, which is no evidence, and other strings unchanged."""
    return text if text and not text.isspace() else None


class SourceBody(RequestModel):
    """The document that a claim was taken from. Its address is shown but never fetched."""

    kind: ShortText | None = None
    name: ShortText | None = None
    url: Url | None = None
    sha256: Sha256 | None = None


class ClaimCreate(RequestModel):
    """A claim about one attribute of a dataset."""

    model_config = ConfigDict(json_schema_extra={"examples": [_CLAIM_EXAMPLE]})

    attribute: ShortText = Field(json_schema_extra={"enum": list(CLAIMED_ATTRIBUTES)})
    value: Annotated[Any, WithJsonSchema(_VALUE_SCHEMA)] = Field(
        None, description="In the type of the attribute: true or false, or a number. Null with `not_applicable`."
    )
    not_applicable: Flag = Field(False, description="The attribute does not apply to this dataset.")
    scope: Literal["subjects", "annotators"] | None = Field(
        None, description="The people whom the claim is about; claims about annotators alone never count."
    )
    quote: Quote | None = Field(None, description="The verbatim words that support the claim.")
    place: Place | None = Field(None, description="The place of the quote in the source.")
    source: SourceBody | None = None
    standard: ShortText | None = Field(None, description="The metadata standard of the source.")
    field: Place | None = Field(None, description="The field of that standard.")
    until: Time = Field(None, description="The time from which the claim no longer counts.")

    def to_draft(self) -> ClaimDraft:
        """Return the claim as a draft for the ledger, without its author and status.

        Raises:
            UnknownName: the attribute does not exist or does not support claims.
            InvalidValue: the value is missing, or given together with `not_applicable`.
            RequestValidationError: the value does not have the type of the attribute.
        """
        return ClaimDraft(
            attribute=self.attribute,
            value=self._validate_value(),
            is_not_applicable=self.not_applicable,
            scope=self.scope,
            quote=_none_if_blank(self.quote),
            place=_none_if_blank(self.place),
            source=ClaimSource(**self.source.model_dump()) if self.source else None,
            standard=_none_if_blank(self.standard),
            field=_none_if_blank(self.field),
            until=self.until,
        )

    def _validate_value(self) -> ClaimValue:
        """Return the claimed value in the type of the attribute.

        Raises:
            UnknownName, InvalidValue, RequestValidationError: as in `to_draft`.
        """
        if self.attribute not in _VALUE_VALIDATORS:
            raise unknown_value_error(self.attribute, CLAIMED_ATTRIBUTES, "body", "attribute")
        if self.not_applicable and self.value is not None:
            raise InvalidValue(FieldError(("body", "value"), "value_not_applicable"))
        if self.not_applicable:
            return None
        if self.value is None:
            raise InvalidValue(FieldError(("body", "value"), "missing"))

        try:
            value: ClaimValue = _VALUE_VALIDATORS[self.attribute].validate_python(self.value)
        except ValidationError as error:
            details = [{**detail, "loc": ("body", "value")} for detail in error.errors(include_input=False)]
            raise RequestValidationError(details) from None
        return value


class ReviewCreate(RequestModel):
    """A decision about a claim."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"decision": "confirm", "note": "The consent form is in appendix B."}]}
    )

    decision: Literal["accept", "confirm", "reject"] = Field(
        description="`accept` activates a proposal, `confirm` makes a claim `reviewed`, `reject` closes it."
    )
    note: Quote | None = None


class OriginalSourceView(BaseModel):
    """The document that another catalog had taken a claim from."""

    kind: str | None = None
    name: str | None = None
    url: str | None = None
    sha256: str | None = None


class SourceView(BaseModel):
    """The document that a claim was taken from."""

    kind: str | None
    name: str | None
    url: str | None
    sha256: str | None
    original: OriginalSourceView | None = Field(
        None, description="Only if the document is the export of another catalog, which names this source."
    )


class ReviewView(BaseModel):
    """The last decision about a claim."""

    by: PersonView
    at: datetime
    decision: Decision
    note: str | None


class ClaimView(BaseModel):
    """A claim about one attribute of a dataset."""

    id: UUID
    dataset_id: int
    attribute: str
    value: bool | int | float | None
    not_applicable: bool
    level: EvidenceLevel = Field(description="How well the claim is supported, after its review.")
    status: ClaimStatus = Field(description="Only active claims count.")
    scope: str | None
    quote: str | None
    place: str | None
    source: SourceView | None
    standard: str | None
    field: str | None
    note: str | None = Field(description="The rule by which the value was derived from the quote.")
    by: PersonView | None = Field(description="The author; null for the service itself.")
    at: datetime
    until: datetime | None
    withdrawn_at: datetime | None
    review: ReviewView | None


class ProposalView(ClaimView):
    """An open proposal, with the name of its dataset."""

    dataset_name: str


class ProposalPageView(BaseModel):
    """A page of open proposals."""

    proposals: list[ProposalView]
    total_count: int
    page: int
    page_size: int
    total_pages: int


class AttributeStateView(BaseModel):
    """The state of one attribute according to all claims about it."""

    value: bool | int | float | None = Field(description="The value that the record shows.")
    not_applicable: bool = Field(description="The value is null because the attribute does not apply.")
    level: EvidenceLevel | None = Field(description="How well the value is supported; null if nothing is known.")
    declared: bool | int | float | None = Field(description="The value that the creator of the record declares.")
    documented: bool | int | float | None = Field(description="The value at the assurance `documented`.")
    reviewed: bool | int | float | None = Field(description="The value at the assurance `reviewed`.")
    conflicting: bool = Field(description="Claims that count state different values.")

    @classmethod
    def from_state(cls, state: AttributeState) -> Self:
        """Convert the state of an attribute to its JSON view."""
        return cls(
            value=state.value,
            not_applicable=state.is_not_applicable,
            level=state.level,
            declared=state.declared,
            documented=state.documented,
            reviewed=state.reviewed,
            conflicting=state.is_conflicting,
        )


class EvidenceView(BaseModel):
    """The claims about a dataset, and the resulting state of each attribute."""

    dataset_id: int
    declared_by: PersonView | None
    claims: list[ClaimView] = Field(description="All claims with their history, the newest first.")
    attributes: dict[str, AttributeStateView]


def claim_json(claim: ClaimRecord, pseudos: Pseudos, now: datetime) -> dict[str, Any]:
    """Return the JSON representation of a claim, with the status `withdrawn` if it has expired."""
    status, withdrawn_at = claim.status_at(now)
    review = claim.review
    review_json = None
    if review is not None:
        reviewer = person_json(review.reviewer, pseudos)
        review_json = {"by": reviewer, "at": review.at, "decision": review.decision, "note": review.note}

    return {
        "id": claim.id,
        "dataset_id": claim.dataset_id,
        "attribute": claim.attribute,
        "value": claim.value,
        "not_applicable": claim.is_not_applicable,
        "level": claim.effective_level,
        "status": status,
        "scope": claim.scope,
        "quote": claim.quote,
        "place": claim.place,
        "source": claim.source,
        "standard": claim.standard,
        "field": claim.field,
        "note": claim.note,
        "by": person_json(claim.author, pseudos),
        "at": claim.created_at,
        "until": claim.until,
        "withdrawn_at": withdrawn_at,
        "review": review_json,
    }


def claims_json(claims: Sequence[ClaimRecord], pseudos: Pseudos) -> list[dict[str, Any]]:
    """Return the JSON representations of claims, in the same order."""
    now = datetime.now(UTC)
    return [claim_json(claim, pseudos, now) for claim in claims]
