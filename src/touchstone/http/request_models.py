"""Pydantic field types, and the base class of request bodies."""

import re
from typing import Annotated, Any, ClassVar, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from touchstone.core.attributes import INT32_MAX, INT53_MAX
from touchstone.core.text import is_blank
from touchstone.http.spelling_suggestions import suggestion_facts

LONG_TEXT: Final = 100_000
SHORT_TEXT: Final = 255
MAX_WORD: Final = 200
# Plain decimal digits, unlike for int(), which accepts "1_000", " 1" and digits of other scripts.
PLAIN_INTEGER: Final = re.compile(r"-?[0-9]{1,300}")


def require_clean_text(value: str) -> str:
    """Return the string unchanged if every database and terminal supports its characters.

    Raises:
        PydanticCustomError: the string contains a NUL character or a lone surrogate.
    """
    if not is_clean_text(value):
        raise PydanticCustomError("unclean_text", "NUL characters and lone surrogates are not text")
    return value


def is_clean_text(value: str) -> bool:
    """Return whether a string contains neither a NUL character nor a lone surrogate."""
    try:
        value.encode()  # lone surrogates are the only characters that UTF-8 cannot represent
    except UnicodeEncodeError:
        return False
    return "\x00" not in value


def strip_text(value: Any) -> Any:
    """Strip white space from a string, and return other values unchanged for Pydantic to refuse."""
    return value.strip() if isinstance(value, str) else value


def _strip_name(value: Any) -> Any:
    """Strip white space from a string, or return an empty one if it shows nothing.

    A link with an invisible name could not be found on a page. Other values are returned unchanged for Pydantic to
    refuse.
    """
    return "" if isinstance(value, str) and is_blank(value) else strip_text(value)


def _convert_whole_float(value: Any) -> Any:
    """Convert a float such as 3.0, which is an integer in JSON Schema 2020-12 (section 4.2.3)."""
    is_whole_float = isinstance(value, float) and value.is_integer()
    return int(value) if is_whole_float else value


def _require_plain_integer(value: Any) -> Any:
    """Refuse a string such as "1_000", which only Python reads as an integer, and return other values unchanged.

    Raises:
        PydanticCustomError: the value is a string that does not consist of plain decimal digits.
    """
    if isinstance(value, str) and not PLAIN_INTEGER.fullmatch(value):
        raise PydanticCustomError("int_parsing", "an integer is expected")
    return value


WholeFloatAsInt: Final = BeforeValidator(_convert_whole_float)
Text = Annotated[str, Field(max_length=LONG_TEXT), AfterValidator(require_clean_text)]
ShortText = Annotated[str, Field(max_length=SHORT_TEXT), AfterValidator(require_clean_text)]
# The length limits must directly follow `str`. After a validator, Pydantic's messages would count items instead of
# characters.
Name = Annotated[
    str,
    Field(min_length=1, max_length=SHORT_TEXT),
    BeforeValidator(_strip_name),
    AfterValidator(require_clean_text),
]
Word = Annotated[
    str,
    Field(min_length=1, max_length=MAX_WORD),
    BeforeValidator(_strip_name),
    AfterValidator(require_clean_text),
]
Flag = StrictBool
Count = Annotated[int, Field(strict=True, ge=0, le=INT53_MAX), WholeFloatAsInt]
SmallCount = Annotated[int, Field(strict=True, ge=0, le=INT32_MAX), WholeFloatAsInt]
QueryInteger = Annotated[int, BeforeValidator(_require_plain_integer)]
RowId = Annotated[int, Field(strict=True, ge=1, le=INT32_MAX), WholeFloatAsInt]
Percentage = Annotated[float, Field(strict=True, ge=0, le=100, allow_inf_nan=False)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-1e300, le=1e300)]


class RequestModel(BaseModel):
    """A JSON object in a request. An unknown key is an error that suggests similar known keys.

    Attributes:
        ignored_keys: keys that are accepted and dropped, because the API contract requires it.
    """

    model_config = ConfigDict(extra="forbid")
    ignored_keys: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, value: Any) -> Any:
        """Refuse unknown keys, and remove ignored ones.

        Raises:
            PydanticCustomError: a key is unknown. The message suggests similar known keys.
        """
        if not isinstance(value, dict):
            return value  # Pydantic refuses it afterwards.

        known_keys = set(cls.model_fields)
        relevant_fields = {key: field for key, field in value.items() if key not in cls.ignored_keys}
        for key in relevant_fields:
            if key not in known_keys:
                # Pydantic replaces the placeholders by the facts.
                facts = suggestion_facts(str(key), known_keys)
                raise PydanticCustomError("unknown_name", "{name} is unknown; known: {known}", facts)
        return relevant_fields

    def provided_fields(self) -> dict[str, Any]:
        """Return the fields that the client sent, with their values."""
        return self.model_dump(exclude_unset=True)
