"""What the selection backend takes and answers: bodies to validate, and answers as the documents describe them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar
from uuid import UUID

import msgspec
from pydantic import AfterValidator, BaseModel, Field, create_model
from pydantic_core import PydanticCustomError

from touchstone.core.attributes import ATTRIBUTES, BY_NAME, ETHICAL, INT53_MAX, Attribute, Kind
from touchstone.http.request_models import (
    Flag,
    Name,
    Percentage,
    RequestModel,
    RowId,
    ShortText,
    Text,
    WholeFloatAsInt,
    require_clean_text,
)

T = TypeVar("T")
Visibility = Literal["public", "private"]
MAX_WORDS: Final = 200
MAX_METADATA_DEPTH: Final = 32
MAX_JSON_BYTES: Final = 64 * 1024  # of `metadata` as a caller writes it, and of the criteria and weights of a project
SERVICE_KEYS: Final = ("measured", "unmeasured")  # members of `metadata` that no caller writes
Word = Annotated[Name, Field(max_length=200)]
Words = Annotated[list[Word], Field(max_length=MAX_WORDS)]
FilePath = Annotated[str, Field(max_length=4096), AfterValidator(require_clean_text)]
# Short forms of the ethical attributes, as the scoring criteria are called (interface, section 2.7).
SHORT_TAGS: Final[Mapping[str, str]] = {
    "anonymization": "anonymization_applied",
    "transparency": "transparency",
    "informed_consent": "informed_consent",
    "data_quality": "data_quality_documented",
}
TAGS: Final[Mapping[str, str]] = {name: name for name in ETHICAL} | dict(SHORT_TAGS)


def _shallow_and_clean(value: T) -> T:
    """A JSON value whose texts every database can hold, and that is not nested without end."""
    level: list[Any] = [value]
    for _ in range(MAX_METADATA_DEPTH):
        level = [child for item in level for child in _children(item)]
        if not level:
            return value
    raise PydanticCustomError("too_deep", "nested too deeply")


def _children(item: Any) -> list[Any]:
    if isinstance(item, str):
        require_clean_text(item)
    if isinstance(item, dict):
        for key in item:
            require_clean_text(key)
        return list(item.values())
    return item if isinstance(item, list) else []


def _small(value: T) -> T:
    """A JSON value of a bounded size; what the service itself writes in `metadata` is dropped later and not counted."""
    counted: Any = value
    if isinstance(value, dict):
        counted = {key: item for key, item in value.items() if key not in SERVICE_KEYS}
    if len(msgspec.json.encode(counted)) > MAX_JSON_BYTES:
        raise PydanticCustomError("too_many_bytes", "at most {max_bytes} bytes of JSON", {"max_bytes": MAX_JSON_BYTES})
    return value


Metadata = Annotated[dict[str, Any], AfterValidator(_shallow_and_clean), AfterValidator(_small)]
Weights = Annotated[list[Any], Field(max_length=1000), AfterValidator(_shallow_and_clean), AfterValidator(_small)]


def _not_in_the_future(year: int) -> int:
    """A year that has begun, or the next one: what is announced is dated ahead."""
    first, last = BY_NAME["year"].minimum, datetime.now(UTC).year + 1
    assert first is not None
    if not first <= year <= last:
        raise PydanticCustomError(
            "year_expected", "a year from {minimum} to {maximum} is expected", {"minimum": first, "maximum": last}
        )
    return year


Year = Annotated[
    int,
    Field(strict=True, json_schema_extra={"minimum": BY_NAME["year"].minimum}),
    WholeFloatAsInt,
    AfterValidator(_not_in_the_future),
]


def _type_of(attribute: Attribute) -> Any:
    """The type of an attribute's value in a body."""
    if attribute.name == "year":
        return Year
    if attribute.kind is Kind.INTEGER:
        return Annotated[int, Field(strict=True, ge=attribute.minimum, le=attribute.maximum), WholeFloatAsInt]
    return {Kind.TEXT: Text, Kind.WORDS: Words, Kind.PERCENTAGE: Percentage, Kind.FLAG: Flag}[attribute.kind]


def _optional_attributes() -> dict[str, Any]:
    fields = {a.name: (_type_of(a) | None, Field(None, description=a.label_en)) for a in ATTRIBUTES}
    return fields | {"dataset_name": (Name, Field(None, description="Same as `name`."))}


class _DatasetChange(RequestModel):
    name: Name = Field(None, description="Name, 1 to 255 characters.", validate_default=False)  # type: ignore[assignment]
    description: Text = Field(None)  # type: ignore[assignment]
    file_path: FilePath = Field(None, description="Path of the data file.")  # type: ignore[assignment]
    file_type: ShortText = Field(None, description="For example csv or parquet.")  # type: ignore[assignment]
    metadata: Metadata | None = Field(
        None, description="What else is known, 64 KiB as JSON at most; `measured` is the service's own."
    )
    visibility: Visibility = Field("public", description="A private record is seen by its owner alone.")


class _DatasetWanted(_DatasetChange):
    name: Name = Field(description="Name, 1 to 255 characters.")
    description: Text
    file_path: FilePath = Field(description="Path of the data file.")
    file_type: ShortText = Field(description="For example csv or parquet.")


DatasetWanted: type[RequestModel] = create_model("DatasetCreate", __base__=_DatasetWanted, **_optional_attributes())
DatasetWanted.__doc__ = "A record to put into the catalog (interface, section 2.2, with the attributes of 2.4)."
DatasetChange: type[RequestModel] = create_model("DatasetChange", __base__=_DatasetChange, **_optional_attributes())
DatasetChange.__doc__ = "What to change of a record; null clears what is optional."


class SearchCriteria(RequestModel):
    """What to search for; all three are optional and joined by AND (interface, section 2.3)."""

    name_contains: Text | None = None
    min_rows: Annotated[int, Field(strict=True, ge=-INT53_MAX, le=INT53_MAX), WholeFloatAsInt] | None = None
    ethical_tags: Annotated[list[ShortText], Field(max_length=MAX_WORDS)] | None = None


class WeightView(BaseModel):
    """How much one criterion counts."""

    criterion_name: str
    weight: float


class _ProjectFields(RequestModel):
    # The service's own fields are taken and dropped: a client may send back what it has read.
    ignored: ClassVar[frozenset[str]] = frozenset({"id", "user_id", "created_at", "updated_at"})
    description: Text | None = None
    criteria: Metadata | None = Field(None, description="A filter object, as in scoring.")
    weights: Weights | None = Field(None, description="A list of Weight.")
    chosen_dataset_id: RowId | None = Field(None, description="The dataset that was chosen.")
    choice_reason: Text | None = Field(None, description="Why.")


class ProjectWanted(_ProjectFields):
    """A project to create; it belongs to the caller."""

    name: Name


class ProjectChange(_ProjectFields):
    """What to change of a project: a field left out stays, null clears."""

    name: Name = Field(None)  # type: ignore[assignment]


def _view_type(attribute: Attribute) -> Any:
    return {
        Kind.TEXT: str,
        Kind.WORDS: list[str],
        Kind.INTEGER: int,
        Kind.PERCENTAGE: float,
        Kind.FLAG: bool,
    }[attribute.kind]


class _DatasetHead(BaseModel):
    id: int
    dataset_id: UUID
    name: str
    dataset_name: str
    description: str
    file_path: str
    file_type: str
    metadata: dict[str, Any] | None
    metadata_omitted: bool = Field(
        False, description="True in a list whose records take too many bytes: read the record alone for its `metadata`."
    )
    visibility: Visibility
    ethical_score: float = Field(ge=0, le=1)
    technical_score: float = Field(ge=0, le=1)
    popularity_score: float = Field(ge=0, le=1)
    created_at: datetime
    updated_at: datetime


_ATTRIBUTE_VIEWS: Final[dict[str, Any]] = {
    a.name: (_view_type(a) | None, Field(description=a.label_en)) for a in ATTRIBUTES if a.name != "dataset_name"
}
DatasetView: type[BaseModel] = create_model("Dataset", __base__=_DatasetHead, **_ATTRIBUTE_VIEWS)
DatasetView.__doc__ = "A catalog record, in both shapes of the interface."


class DatasetPageView(BaseModel):
    """The page form of the list."""

    datasets: list[DatasetView]
    total_count: int
    page: int
    page_size: int
    total_pages: int


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
    criterion_scores: dict[str, float] | None = Field(None, description="With `explain=true`: by criterion.")
    points: dict[str, float] | None = Field(None, description="With `explain=true`: they add up to the score.")
    unknown: list[str] | None = Field(
        None, description="With `explain=true`: criteria of which nothing is known; each counts as 0."
    )


class RankingView(BaseModel):
    """The envelope of a ranking."""

    datasets: list[ScoredView]
    total_count: int
    effective_weights: list[WeightView]
    profile: str | None
    plan: str


class ProjectView(BaseModel):
    """A project."""

    id: UUID
    user_id: UUID
    name: str
    description: str | None
    criteria: dict[str, Any]
    weights: list[WeightView]
    chosen_dataset_id: int | None
    choice_reason: str | None
    created_at: datetime
    updated_at: datetime


class ProjectPageView(BaseModel):
    """The page form of the list of projects."""

    projects: list[ProjectView]
    total_count: int
    page: int
    page_size: int
    total_pages: int


class RecommendationsView(BaseModel):
    """What the catalog offers for a project."""

    project: ProjectView
    datasets: list[ScoredView]
    total_count: int
    effective_weights: list[WeightView]


class FileView(BaseModel):
    """An uploaded table."""

    id: UUID
    file_path: str
    file_type: str
    name: str
    bytes: int
    sha256: str
    created_at: datetime


class FilesView(BaseModel):
    """One's uploads, newest first."""

    files: list[FileView]
    used_bytes: int
    quota_bytes: int = Field(description="How many bytes one's uploads may take together.")


class SourceView(BaseModel):
    """Where the data of a record is, for the other backends."""

    dataset_id: int
    uuid: UUID
    name: str
    file_path: str
    file_type: str
    target: str | None
    sensitive_columns: list[str]
    record: DatasetView
