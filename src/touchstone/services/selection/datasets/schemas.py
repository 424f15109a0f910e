"""Schemas of dataset records, scores and rankings, for request bodies and for the OpenAPI document."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Final, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, Field, WithJsonSchema, create_model
from pydantic_core import PydanticCustomError

from touchstone.core.attributes import ATTRIBUTES, BY_NAME, ETHICAL, INT53_MAX, Attribute, Kind
from touchstone.core.errors import ConflictingValues
from touchstone.core.evidence import Assurance, EvidenceLevel
from touchstone.http.request_models import (
    Flag,
    Name,
    Percentage,
    RequestModel,
    ShortText,
    Text,
    WholeFloatAsInt,
    Word,
    require_clean_text,
)
from touchstone.http.spelling_suggestions import unknown_value_error
from touchstone.ranking.reasons.notes import NoteCode
from touchstone.services.selection.filters import FILTER_PARAMETERS, MAX_SEARCH_TEXT_LENGTH
from touchstone.services.selection.gates import GateOutcome
from touchstone.services.selection.json_fields import JsonObject
from touchstone.services.selection.parameters import MAX_TEXT_LENGTH

MAX_WORDS: Final = 200
MAX_FILE_PATH: Final = 4096
MAX_REASON: Final = 1000

# The names of scoring criteria that are short names of ethical attributes.
SHORT_TAGS: Final[Mapping[str, str]] = {
    "anonymization": "anonymization_applied",
    "transparency": "transparency",
    "informed_consent": "informed_consent",
    "data_quality": "data_quality_documented",
}
# The filters that a search accepts in addition to its own criteria. Their values are parsed with FILTER_PARAMETERS.
SEARCH_FILTERS: Final = ("license", "language", "source", "trainable")
# The members of a record that only the service writes. A bulk import ignores them, so that exports can be imported.
SERVICE_FIELDS: Final = frozenset(
    {
        "id",
        "dataset_id",
        "metadata_omitted",
        "hidden",
        "hidden_reason",
        "declared_by",
        "ethical_score",
        "technical_score",
        "popularity_score",
        "created_at",
        "updated_at",
    }
)
_FILTER_SCHEMAS: Final = FILTER_PARAMETERS.json_schema()["properties"]
# The attribute for each tag of a search.
TAGS: Final[Mapping[str, str]] = {name: name for name in ETHICAL} | dict(SHORT_TAGS)

Visibility = Literal["public", "private"]
Words = Annotated[list[Word], Field(max_length=MAX_WORDS)]
SearchedText = Annotated[str, Field(max_length=MAX_TEXT_LENGTH), AfterValidator(require_clean_text)]
FilePath = Annotated[str, Field(max_length=MAX_FILE_PATH), AfterValidator(require_clean_text)]


def _require_known_year(year: int) -> int:
    """Validate the year of a dataset for pydantic, and return it unchanged.

    The last valid year is next year, because announced datasets have future dates.

    Raises:
        PydanticCustomError: the year is too early or too late.
    """
    first_year = BY_NAME["year"].minimum
    last_year = datetime.now(UTC).year + 1
    assert first_year is not None

    if not first_year <= year <= last_year:
        bounds = {"minimum": first_year, "maximum": last_year}
        raise PydanticCustomError("year_expected", "a year from {minimum} to {maximum} is expected", bounds)
    return year


Year = Annotated[
    int,
    Field(strict=True, json_schema_extra={"minimum": BY_NAME["year"].minimum}),
    WholeFloatAsInt,
    AfterValidator(_require_known_year),
]


def request_type(attribute: Attribute) -> Any:
    """Return the annotated type of an attribute in a request body, for validation with pydantic.

    Numbers have the bounds of the attribute. The upper bound of the year depends on the current date.
    """
    if attribute.name == "year":
        return Year
    if attribute.kind is Kind.INTEGER:
        return Annotated[int, Field(strict=True, ge=attribute.minimum, le=attribute.maximum), WholeFloatAsInt]

    types: dict[Kind, Any] = {Kind.TEXT: Text, Kind.WORDS: Words, Kind.PERCENTAGE: Percentage, Kind.FLAG: Flag}
    return types[attribute.kind]


def _attribute_fields() -> dict[str, Any]:
    """Return the pydantic fields for the attributes of a dataset in a request body, by name.

    All fields are optional. Null clears an attribute, except for the name, which is required.
    """
    fields: dict[str, Any] = {
        attribute.name: (request_type(attribute) | None, Field(None, description=attribute.label_en))
        for attribute in ATTRIBUTES
    }
    fields["dataset_name"] = (Name, Field(None, description="Same as `name`."))
    return fields


class DatasetChangeBody(RequestModel):
    """The fields of a change that are not attributes. Fields that are left out keep their values."""

    name: Name = Field(None, description="Name, 1 to 255 characters.", validate_default=False)  # type: ignore[assignment]
    description: Text = Field(None)  # type: ignore[assignment]
    file_path: FilePath = Field(None, description="Path of the data file.")  # type: ignore[assignment]
    file_type: ShortText = Field(None, description="For example csv or parquet.")  # type: ignore[assignment]
    metadata: JsonObject | None = Field(
        None, description="Further facts, at most 64 KiB as JSON. Only the service writes `measured`."
    )
    visibility: Visibility = Field("public", description="Only its owner can see a private record.")

    def provided_attributes(self) -> dict[str, Any]:
        """Return the attributes that the caller has provided, including those that are null.

        The name of the dataset may be given as `name`, `dataset_name` or both. In the result it is `dataset_name`.

        Raises:
            ConflictingValues: both keys of the name are present and have different values.
        """
        attributes = {name: value for name, value in self.provided_fields().items() if name in BY_NAME}
        is_name_provided = "name" in self.model_fields_set
        if not is_name_provided:
            return attributes

        if attributes.get("dataset_name", self.name) != self.name:
            raise ConflictingValues(at=("body", "dataset_name"), other="name")
        return {**attributes, "dataset_name": self.name}


class DatasetCreateBody(DatasetChangeBody):
    """The fields of a new record that are not attributes."""

    name: Name = Field(description="Name, 1 to 255 characters.")
    description: Text
    file_path: FilePath = Field(description="Path of the data file.")
    file_type: ShortText = Field(description="For example csv or parquet.")


class DatasetImportBody(DatasetCreateBody):
    """The fields of an imported record that are not attributes. Fields that only the service writes are ignored."""

    ignored_keys: ClassVar[frozenset[str]] = SERVICE_FIELDS


DatasetCreate: type[DatasetCreateBody] = create_model(
    "DatasetCreate", __base__=DatasetCreateBody, **_attribute_fields()
)
DatasetCreate.__doc__ = "A record to create (interface, section 2.2, with the attributes of section 2.4)."
DatasetImport: type[DatasetImportBody] = create_model(
    "DatasetImport", __base__=DatasetImportBody, **_attribute_fields()
)
DatasetImport.__doc__ = "One record of a bulk import: a new record, or one that was exported."
DatasetChange: type[DatasetChangeBody] = create_model(
    "DatasetChange", __base__=DatasetChangeBody, **_attribute_fields()
)
DatasetChange.__doc__ = "The changes to a record. Null clears an optional field."


class HidingChange(RequestModel):
    """Whether a record is hidden from everyone except its owner, and why."""

    hidden: Flag
    reason: Annotated[Text, Field(max_length=MAX_REASON)] | None = Field(None, description="Shown to the owner.")


class SearchCriteria(RequestModel):
    """The criteria of a search, all of them optional (interface, section 2.3, and some filters).

    A record must satisfy every given criterion.
    """

    q: Annotated[SearchedText, Field(max_length=MAX_SEARCH_TEXT_LENGTH)] | None = None
    name_contains: Text | None = None
    min_rows: Annotated[int, Field(strict=True, ge=-INT53_MAX, le=INT53_MAX), WholeFloatAsInt] | None = None
    ethical_tags: Annotated[list[ShortText], Field(max_length=MAX_WORDS)] | None = None
    license: Annotated[Any, WithJsonSchema(_FILTER_SCHEMAS["license"])] = None
    language: Annotated[Any, WithJsonSchema(_FILTER_SCHEMAS["language"])] = None
    source: Annotated[Any, WithJsonSchema(_FILTER_SCHEMAS["source"])] = None
    trainable: Annotated[Any, WithJsonSchema(_FILTER_SCHEMAS["trainable"])] = None

    def filters(self) -> dict[str, Any]:
        """Return the values of the filters, which must still be parsed with FILTER_PARAMETERS."""
        return {name: getattr(self, name) for name in SEARCH_FILTERS}

    def tag_attributes(self) -> list[str]:
        """Return the attribute for each tag, which is the name or a short name of an attribute.

        Raises:
            UnknownName: a tag does not exist.
        """
        attributes: list[str] = []
        for index, tag in enumerate(self.ethical_tags or ()):
            if tag not in TAGS:
                raise unknown_value_error(tag, TAGS, "body", "ethical_tags", index)
            attributes.append(TAGS[tag])

        return attributes


class PersonView(BaseModel):
    """A user as other users see them."""

    id: UUID
    pseudo: str | None = Field(description="The name that the user has chosen; never an e-mail address.")


class _DatasetViewFields(BaseModel):
    id: int
    dataset_id: UUID
    name: str
    dataset_name: str
    description: str
    file_path: str
    file_type: str
    metadata: dict[str, Any] | None
    metadata_omitted: bool = Field(
        False, description="True if the list would be too large with this `metadata`: read the record instead."
    )
    visibility: Visibility
    hidden: bool = Field(description="An administrator has hidden the record from everyone except its owner.")
    hidden_reason: str | None = Field(description="Why the record is hidden.")
    declared_by: PersonView | None = Field(
        description="The owner of the record, who declares its values; null if there is none."
    )
    ethical_score: float = Field(ge=0, le=1)
    technical_score: float = Field(ge=0, le=1)
    popularity_score: float = Field(ge=0, le=1)
    created_at: datetime
    updated_at: datetime


_RESPONSE_TYPES: Final[Mapping[Kind, Any]] = {
    Kind.TEXT: str,
    Kind.WORDS: list[str],
    Kind.INTEGER: int,
    Kind.PERCENTAGE: float,
    Kind.FLAG: bool,
}
_ATTRIBUTE_VIEWS: Final[dict[str, Any]] = {
    attribute.name: (_RESPONSE_TYPES[attribute.kind] | None, Field(description=attribute.label_en))
    for attribute in ATTRIBUTES
    if attribute.name != "dataset_name"
}
DatasetView: type[BaseModel] = create_model("Dataset", __base__=_DatasetViewFields, **_ATTRIBUTE_VIEWS)
DatasetView.__doc__ = "A record of the catalog."


class DatasetPageView(BaseModel):
    """A page of the list of records."""

    datasets: list[DatasetView]
    total_count: int
    page: int
    page_size: int
    total_pages: int


class HiddenDatasetView(BaseModel):
    """The part of a record that administrators see when they hide it or show it again."""

    id: int
    dataset_id: UUID
    name: str
    declared_by: PersonView | None
    hidden: bool
    hidden_reason: str | None


class HiddenDatasetPageView(BaseModel):
    """A page of hidden records."""

    datasets: list[HiddenDatasetView]
    total_count: int
    page: int
    page_size: int
    total_pages: int


class WeightView(BaseModel):
    """The weight of one criterion."""

    criterion_name: str
    weight: float


class DeclaredStandingView(BaseModel):
    """The score of a dataset and the number of its known ethical attributes if mere declarations count."""

    score: float = Field(ge=0, le=1)
    known: int = Field(ge=0, le=10)


class BestCaseView(BaseModel):
    """The score of a dataset if all its unknown attributes had their best values."""

    score: float = Field(ge=0, le=1)
    criterion_scores: dict[str, float]


class ScoredView(BaseModel):
    """A scored dataset (interface, section 2.6)."""

    dataset_id: UUID
    dataset_name: str
    score: float = Field(ge=0, le=1)
    ethical_score: float
    technical_score: float
    popularity_score: float
    instances_number: int | None
    features_number: int | None
    objective: str | None
    id: int
    rank: int
    place: int = Field(ge=1, description="1 + the number of records with a higher score: equal scores share a place.")
    tied_with: int = Field(
        ge=0, description="The number of other records in the whole ranking with exactly this score."
    )
    known: int = Field(
        ge=0, le=10, description="The number of ethical attributes that are known to be true or false, out of ten."
    )
    ethical_interval: tuple[float, float] = Field(
        description="The ethical score if all unknown attributes were false, and if all were true."
    )
    gates: dict[str, GateOutcome] | None = Field(None, description="The outcome of each gate, if there are any.")
    criterion_scores: dict[str, float] | None = Field(
        None, description="With `explain=true`: the value of each criterion."
    )
    points: dict[str, float] | None = Field(
        None, description="With `explain=true`: by criterion; they add up to the score."
    )
    unknown: list[str] | None = Field(
        None, description="With `explain=true`: the criteria without any known value; each counts as 0."
    )
    points_by_level: dict[EvidenceLevel, float] | None = Field(
        None, description="With `explain=true`: the part of the score that each level of evidence supports."
    )
    declared: DeclaredStandingView | None = Field(
        None, description="With `explain=true`: the score at the assurance `declared`."
    )
    best_case: BestCaseView | None = Field(
        None, description="With `explain=true`: the highest score and criteria that the unknown attributes allow."
    )
    sentence: str | None = Field(
        None, description="With `explain=true`: why the dataset has its place, in the language of the request."
    )


class RankingNoteView(BaseModel):
    """A note on a weighted criterion that does not distinguish the records shown."""

    code: NoteCode
    criterion_name: str
    value: float | None = Field(
        description="The value that all records shown have; null if it is unknown for all of them."
    )
    sentence: str = Field(description="The note in the language of the request.")


class RankingView(BaseModel):
    """A ranking with the number of matches, the weights and notes."""

    datasets: list[ScoredView]
    total_count: int
    effective_weights: list[WeightView]
    profile: str | None
    plan: str
    assurance: Assurance
    notes: list[RankingNoteView]


class PurposeView(BaseModel):
    """What a document says about the purposes of a dataset."""

    quote: str
    level: EvidenceLevel


class SourceView(BaseModel):
    """The location of the data of a record, for the other backends."""

    dataset_id: int
    uuid: UUID
    name: str
    file_path: str
    file_type: str
    target: str | None
    sensitive_columns: list[str]
    licenses: list[str]
    levels: dict[str, EvidenceLevel] = Field(description="The level of evidence of each known flag and number.")
    purposes: list[PurposeView]
    record: DatasetView
