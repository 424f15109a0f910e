"""The vocabulary that all packages share: error texts, languages, folding of texts, and identities."""

import re
import string
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import touchstone
import touchstone.startup.whole_product
from touchstone.core.error_table import ERRORS
from touchstone.core.errors import InvalidInternalToken, InvalidUserId, ProjectNotFound, TooLarge
from touchstone.core.identity import Caller, parse_uuid, read_user_id
from touchstone.core.internal_tokens import INTERNAL_HEADER, InternalTokens
from touchstone.core.text import fold
from touchstone.http.error_rendering import render_detail
from touchstone.http.error_responses import request_locale
from touchstone.http.request_models import RequestModel
from touchstone.messages import MESSAGES, validation_text
from touchstone.messages.accept_language import preferred_locale
from touchstone.messages.locales import LOCALES
from touchstone.messages.validation import VALIDATION

ROOT = Path(touchstone.__file__).parent
USER_ID = "11111111-2222-4333-8444-555555555555"


def test_every_error_has_a_sentence() -> None:
    """Each code has a text whose French and English versions have the same placeholders."""
    for error in ERRORS:
        french, english = MESSAGES[error.code]
        assert placeholders(french) == placeholders(english), error.code


def placeholders(text: str) -> set[str]:
    """Return the names of the placeholders in a text."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_codes_are_unique() -> None:
    """A client can tell errors apart by their codes."""
    codes = [error.code for error in ERRORS]
    assert len(codes) == len(set(codes))


def test_fixed_sentences_ignore_the_language() -> None:
    """The interface fixes three sentences in French; all others are in the language of the caller."""
    assert [render_detail(ProjectNotFound(), locale) for locale in LOCALES] == ["Projet non trouvé"] * 2
    assert "10" in render_detail(TooLarge(limit=10), "en")


def test_possible_values_are_listed_in_neither_language() -> None:
    """A French sentence does not contain the English "or" of the validation library, and the values have no quotes."""
    texts = [validation_text("literal_error", "", {"expected": "'a', 'b' or 'c'"}, locale) for locale in LOCALES]
    assert texts == ["valeurs possibles\u00a0: a, b, c", "possible values: a, b, c"]


def test_whole_numbers_have_no_decimal_point() -> None:
    """In French, a decimal point would not even be one; a limit of 100 percent is the float 100.0 in its schema."""
    texts = [validation_text("less_than_equal", "", {"le": 100.0}, locale) for locale in LOCALES]
    assert texts == ["doit être au plus 100", "must be at most 100"]


def test_fractions_have_a_decimal_comma_in_french() -> None:
    """A bound such as 0.05 is written as in the language of the sentence."""
    texts = [validation_text("greater_than_equal", "", {"ge": 0.05}, locale) for locale in LOCALES]
    assert texts == ["doit être au moins 0,05", "must be at least 0.05"]


# The kinds of errors that pydantic can report where its schema has a node of this type; wrappers report none.
KINDS_BY_NODE_TYPE = {
    "str": {"string_type", "string_too_short", "string_too_long", "string_pattern_mismatch"},
    "int": {"int_type", "int_parsing", "int_parsing_size", "int_from_float", "finite_number"},
    "float": {"float_type", "float_parsing", "finite_number"},
    "bool": {"bool_type", "bool_parsing"},
    "list": {"list_type", "too_long", "too_short"},
    "tuple": {"tuple_type", "too_long", "too_short"},
    "dict": {"dict_type", "too_long", "too_short"},
    "literal": {"literal_error"},
    "enum": {"enum"},
    "model": {"model_type", "model_attributes_type"},
    "model-field": {"missing"},
}
KINDS_BY_BOUND = {"gt": "greater_than", "ge": "greater_than_equal", "lt": "less_than", "le": "less_than_equal"}
WRAPPERS = {"any", "default", "definitions", "function-after", "function-before", "function-wrap", "model-fields"}
WRAPPERS |= {"no-info", "nullable", "union"}


def schema_nodes(schema: object) -> Iterator[Mapping[str, Any]]:
    """Yield every node of a pydantic-core schema that has a type."""
    if isinstance(schema, dict):
        if isinstance(schema.get("type"), str):
            yield schema
        schema = [value for key, value in schema.items() if key not in ("metadata", "serialization")]
    if isinstance(schema, (list, tuple)):
        for item in schema:
            yield from schema_nodes(item)


def request_models(base: type[RequestModel] = RequestModel) -> Iterator[type[RequestModel]]:
    """Yield every model of a request or of a part of one."""
    for model in base.__subclasses__():
        yield model
        yield from request_models(model)


def test_every_kind_of_validation_error_has_a_text() -> None:
    """No French response contains the English of the validation library."""
    assert "touchstone.startup.whole_product" in sys.modules, "the models are known once the whole product is loaded"
    custom_kind = re.compile(r'(?:PydanticCustomError|_single_error)\(\s*"(\w+)"')
    kinds = set(custom_kind.findall("".join(map(Path.read_text, ROOT.rglob("*.py")))))
    for model in request_models():
        for node in schema_nodes(model.__pydantic_core_schema__):
            assert node["type"] in KINDS_BY_NODE_TYPE.keys() | WRAPPERS, (model, node["type"])
            kinds |= KINDS_BY_NODE_TYPE.get(node["type"], set())
            kinds |= {kind for bound, kind in KINDS_BY_BOUND.items() if bound in node}
    assert kinds >= {"tuple_type", "greater_than_equal", "unknown_name", "cell"}
    assert kinds - VALIDATION.keys() == set()


def kinds_of_errors(model: type[RequestModel], body: Mapping[str, Any]) -> set[str]:
    """Return the kinds of the errors that a request with this body has."""
    try:
        model.model_validate(body)
    except ValidationError as error:
        return {detail["type"] for detail in error.errors(include_input=False)}
    return set()


def test_the_limit_of_a_text_is_one_of_characters() -> None:
    """A limit that pydantic checks behind another validator would speak of items, also for the texts of a list."""
    long_text = "x" * 1_000_001
    kinds_by_field = {
        f"{model.__name__}.{name}": kinds_of_errors(model, {field.alias or name: long_text})
        | kinds_of_errors(model, {field.alias or name: [long_text]})
        for model in request_models()
        for name, field in model.model_fields.items()
    }
    assert "string_too_long" in kinds_by_field["Registration.email"]
    assert [field for field, kinds in kinds_by_field.items() if "too_long" in kinds] == []


@pytest.mark.parametrize(
    ("header", "locale"),
    [
        (None, "fr"),
        ("", "fr"),
        ("en", "en"),
        ("en-GB,en;q=0.9", "en"),
        ("de, en;q=0.4, fr;q=0.3", "en"),
        ("en;q=0.4, fr", "fr"),
        ("en;Q=0.4, fr", "fr"),
        ("en;q=x", "fr"),
        ("en;q=0", "fr"),
        ("*", "fr"),
        ("en;level=1", "en"),
    ],
)
def test_the_language_is_what_the_header_prefers(header: str | None, locale: str) -> None:
    """French is the language unless the header prefers English."""
    assert preferred_locale(header) == locale


def test_several_lines_of_the_header_are_one_list() -> None:
    """The language with the highest weight may be in any of them."""
    assert request_locale({"headers": [(b"accept-language", b"fr;q=0.3"), (b"accept-language", b"en")]}) == "en"


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Été", "ete"),
        ("STRASSE", "strasse"),
        ("straße", "strasse"),
        ("ﬁn", "fin"),
        ("Ⅻ", "xii"),
        ("İ", "i"),
        ("%_", "%_"),
    ],
)
def test_folding_ignores_case_and_accents(text: str, folded: str) -> None:
    """Texts that differ only in case, accents or ligatures have the same folded form."""
    assert fold(text) == folded


@given(st.text(st.characters() | st.sampled_from("e\u0301\u0345αςßİŉ\ufb01한")))
def test_characters_are_folded_as_in_the_whole_text(text: str) -> None:
    """What Unicode defines for a whole text, its compatibility caseless form, is the same character by character."""
    casefolded = unicodedata.normalize("NFKD", text).casefold()
    decomposed = unicodedata.normalize("NFKD", casefolded)
    assert fold(text) == "".join(character for character in decomposed if not unicodedata.combining(character))


@pytest.mark.parametrize(
    "spelling",
    [
        USER_ID + "0",
        USER_ID[:-1],
        f"urn:uuid:{USER_ID}",
        f"{{{USER_ID}}}",
        USER_ID.replace("-", ""),
        f" {USER_ID}",
        f"{USER_ID}\n",
        "0x" + USER_ID,
        "",
    ],
)
def test_only_one_spelling_is_a_user_id(spelling: str) -> None:
    """Other spellings that parsers of UUIDs accept are refused."""
    assert parse_uuid(spelling) is None
    with pytest.raises(InvalidUserId):
        read_user_id([(b"x-user-id", spelling.encode())])


def test_a_repeated_user_id_is_refused() -> None:
    """Two headers are refused even if they have the same value."""
    assert read_user_id([]) is None
    assert read_user_id([(b"x-user-id", USER_ID.upper().encode())]) == UUID(USER_ID)
    with pytest.raises(InvalidUserId):
        read_user_id([(b"x-user-id", USER_ID.encode())] * 2)


def test_an_internal_token_proves_the_caller() -> None:
    """The backend reads the caller for whom the gateway has signed the token, or that there is no user."""
    tokens = InternalTokens("k" * 32)
    curator = Caller(UUID(USER_ID), "b@example.org", is_curator=True)
    for caller in (Caller(UUID(USER_ID), "a@example.org", is_admin=True), curator, Caller(UUID(USER_ID)), None):
        assert tokens.verify([(INTERNAL_HEADER, tokens.sign(caller))]) == caller
        assert tokens.sign(caller) == tokens.sign(caller)


def test_every_other_internal_token_is_refused() -> None:
    """A missing token, two tokens, a token of another key and a text that is no token are all refused."""
    tokens = InternalTokens("k" * 32)
    other_tokens = InternalTokens("o" * 32)
    valid_header = (INTERNAL_HEADER, tokens.sign(None))
    foreign_header = (INTERNAL_HEADER, other_tokens.sign(None))
    for headers in ([], [valid_header, valid_header], [foreign_header], [(INTERNAL_HEADER, b"\xff.x.y")]):
        with pytest.raises(InvalidInternalToken):
            tokens.verify(headers)
