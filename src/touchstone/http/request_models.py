"""Pydantic field types and the base class of request bodies: bounded numbers, clean text, no unknown fields."""

from typing import Annotated, Any, ClassVar, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from touchstone.core.attributes import INT32_MAX, INT53_MAX
from touchstone.http.spelling_suggestions import suggestion_facts

LONG_TEXT: Final = 100_000
SHORT_TEXT: Final = 255


def require_clean_text(value: str) -> str:
    """Return the text of a request unchanged if every database and terminal can hold it.

    Raises:
        ValueError: the text contains a NUL character or a lone surrogate.
    """
    if not is_clean_text(value):
        raise PydanticCustomError("unclean_text", "NUL characters and lone surrogates are not text")
    return value


def is_clean_text(value: str) -> bool:
    """Return whether a text contains neither a NUL character nor a lone surrogate."""
    try:
        value.encode()  # UTF-8 cannot represent lone surrogates, and nothing else.
    except UnicodeEncodeError:
        return False
    return "\x00" not in value


def strip_text(value: Any) -> Any:
    """Return a text without white space around it, and any other value unchanged for pydantic to refuse."""
    return value.strip() if isinstance(value, str) else value


def _convert_whole_float(value: Any) -> Any:
    """Return 3.0 as 3, because both are integers in JSON (JSON Schema 2020-12, section 4.2.3)."""
    is_whole_float = isinstance(value, float) and value.is_integer()
    return int(value) if is_whole_float else value


WholeFloatAsInt: Final = BeforeValidator(_convert_whole_float)
Text = Annotated[str, Field(max_length=LONG_TEXT), AfterValidator(require_clean_text)]
ShortText = Annotated[str, Field(max_length=SHORT_TEXT), AfterValidator(require_clean_text)]
# The length limits stand next to `str`, because behind a validator pydantic's messages would count items, not
# characters.
Name = Annotated[
    str,
    Field(min_length=1, max_length=SHORT_TEXT),
    BeforeValidator(strip_text),
    AfterValidator(require_clean_text),
]
Flag = StrictBool
Count = Annotated[int, Field(strict=True, ge=0, le=INT53_MAX), WholeFloatAsInt]
SmallCount = Annotated[int, Field(strict=True, ge=0, le=INT32_MAX), WholeFloatAsInt]
RowId = Annotated[int, Field(strict=True, ge=1, le=INT32_MAX), WholeFloatAsInt]
Percentage = Annotated[float, Field(strict=True, ge=0, le=100, allow_inf_nan=False)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-1e300, le=1e300)]


class RequestModel(BaseModel):
    """A JSON object in a request, in which an unknown key is an error that suggests the nearest known key.

    `ignored` lists keys that are accepted and dropped because the contract requires it.
    """

    model_config = ConfigDict(extra="forbid")
    ignored: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, value: Any) -> Any:
        """Refuse an unknown key, such as a misspelt optional field, and return the JSON object without ignored keys.

        Raises:
            PydanticCustomError: a key is unknown; the message suggests the nearest known key.
        """
        if not isinstance(value, dict):
            return value  # pydantic refuses it afterwards

        known_keys = set(cls.model_fields)
        fields = {key: item for key, item in value.items() if key not in cls.ignored}

        for key in fields:
            if key not in known_keys:
                suggestion = suggestion_facts(str(key), known_keys)
                raise PydanticCustomError("unknown_name", "{name} is unknown; known: {known}", suggestion)

        return fields

    def provided_fields(self) -> dict[str, Any]:
        """Return the fields that the client sent, with their values."""
        return self.model_dump(exclude_unset=True)
