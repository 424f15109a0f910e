"""What comes in over the wire: strict JSON, bounded numbers, clean text, and no field that nobody knows."""

import difflib
import re
from collections.abc import Callable, Iterable
from typing import Annotated, Any, ClassVar, Final

import msgspec
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from touchstone.core.attributes import INT32_MAX, INT53_MAX
from touchstone.core.errors import Fault, Invalid, NotJson, UnknownName

LONG_TEXT: Final = 100_000
SHORT_TEXT: Final = 255
# A text, which may lack its end so that none is looked at twice, or what stands for a number that is not finite.
_TEXT_OR_NOT_FINITE: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?|-?(?:NaN|Infinity)', re.DOTALL)
_TOWARDS_INFINITY: Final = msgspec.json.Decoder(float_hook=float)


def parse_json(raw: bytes) -> Any:
    """The value of a JSON text (RFC 8259): no NaN, no infinities, no lone surrogates, no endless nesting.

    Raises:
        NotJson: it is not JSON.
        Invalid: it is, but a number in it is out of range.
    """
    return _parsed(raw, msgspec.json.decode)


def parse_json_naming_numbers(raw: bytes) -> Any:
    """As `parse_json`, for bodies in which every number is checked by a reader who names it.

    NaN, infinities and numbers beyond float64 come as an infinity instead of ending the reading.

    Raises:
        NotJson, Invalid: what else is wrong.
    """
    try:
        return parse_json(raw)
    except (NotJson, Invalid):
        return _parsed(_TEXT_OR_NOT_FINITE.sub(_beyond_float64, raw), _TOWARDS_INFINITY.decode)


def _beyond_float64(found: re.Match[bytes]) -> bytes:
    return found[0] if found[0].startswith(b'"') else b"1e999"


def _parsed(raw: bytes, decode: Callable[[bytes], Any]) -> Any:
    try:
        return decode(raw)
    except msgspec.ValidationError as problem:
        raise Invalid(Fault(("body",), "number_out_of_range")) from problem
    except (ValueError, RecursionError) as problem:
        raise NotJson from problem


def suggestion(name: str, known: Iterable[str]) -> dict[str, Any]:
    """Return the facts of a refusal: the name, and the known ones that it may stand for, or all when none is near.

    Names are compared without case and punctuation: `PAGE`, `page-size` and `pageSize` are near to theirs.
    """
    by_letters = {_letters(one): one for one in sorted(known)}
    cut = name[:80]
    same = by_letters.get(_letters(cut))
    near = [same] if same else [by_letters[m] for m in difflib.get_close_matches(_letters(cut), by_letters, 3)]
    return {"name": cut, "known": ", ".join(near or by_letters.values()), "is_near": bool(near)}


def _letters(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum()) or name


def unknown(name: str, known: Iterable[str], *loc: str | int) -> UnknownName:
    """The refusal of a name that does not exist, at `loc`."""
    return UnknownName(Fault(loc, "unknown_name", suggestion(name, known)))


def unknown_value(value: str, known: Iterable[str], *loc: str | int) -> UnknownName:
    """Return the refusal of a value that is none of the known ones, at `loc`."""
    where = ".".join(map(str, loc[1:]))
    return UnknownName(Fault(loc, "unknown_value", suggestion(value, known) | {"where": where}))


def clean(value: str) -> str:
    """A text that every database and terminal can hold.

    Raises:
        ValueError: it has a NUL character or a lone surrogate.
    """
    if "\x00" in value or any("\ud800" <= c <= "\udfff" for c in value):
        raise PydanticCustomError("unclean_text", "NUL characters and lone surrogates are not text")
    return value


def _trimmed(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def _whole(value: Any) -> Any:
    # In JSON 3.0 is an integer (JSON Schema 2020-12, section 4.2.3).
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole: Final = BeforeValidator(_whole)
Text = Annotated[str, Field(max_length=LONG_TEXT), AfterValidator(clean)]
ShortText = Annotated[str, Field(max_length=SHORT_TEXT), AfterValidator(clean)]
# The bounds stand next to `str`: behind a validator they would speak of items instead of characters.
Name = Annotated[str, Field(min_length=1, max_length=SHORT_TEXT), BeforeValidator(_trimmed), AfterValidator(clean)]
Flag = StrictBool
Count = Annotated[int, Field(strict=True, ge=0, le=INT53_MAX), Whole]
SmallCount = Annotated[int, Field(strict=True, ge=0, le=INT32_MAX), Whole]
RowId = Annotated[int, Field(strict=True, ge=1, le=INT32_MAX), Whole]
Percentage = Annotated[float, Field(strict=True, ge=0, le=100, allow_inf_nan=False)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-1e300, le=1e300)]


class Wire(BaseModel):
    """A JSON object from a caller: a key that is not a field is refused, with the nearest known one.

    `ignored` names keys that are taken and dropped, where the contract says so.
    """

    model_config = ConfigDict(extra="forbid")
    ignored: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _known_keys_only(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        known = set(cls.model_fields)
        for key in value:
            if key not in known and key not in cls.ignored:
                facts = suggestion(str(key), known)
                raise PydanticCustomError("unknown_name", "{name} is unknown; known: {known}", facts)
        return {key: item for key, item in value.items() if key not in cls.ignored}

    def given(self) -> dict[str, Any]:
        """The fields that the caller wrote, with their values."""
        return self.model_dump(exclude_unset=True)


class Problem(BaseModel):
    """The body of every refusal."""

    detail: str = Field(description="One sentence, French by default, English with `Accept-Language: en`.")
    code: str = Field(description="Stable key of the refusal.")
    errors: list[dict[str, Any]] = Field(default_factory=list, description="Where and why: `loc`, `msg`, `type`.")
