"""Texts, refusals, folding and identities: the words that every room shares."""

import re
import string
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import touchstone
from touchstone import compose
from touchstone.core.errors import ERRORS, InvalidInternalToken, InvalidUserId, ProjectNotFound, TooLarge
from touchstone.core.identity import INTERNAL_HEADER, Caller, InternalTokens, parse_uuid, read_user_id
from touchstone.core.text import fold
from touchstone.http.error_rendering import render_detail
from touchstone.http.request_models import RequestModel
from touchstone.messages import MESSAGES, validation_text
from touchstone.messages.locales import LOCALES, preferred_locale
from touchstone.messages.validation import VALIDATION

ROOT = Path(touchstone.__file__).parent
ID = "11111111-2222-4333-8444-555555555555"


def test_every_refusal_has_its_sentence() -> None:
    """No code without a text, and French and English fill the same places."""
    fields = string.Formatter().parse
    for error in ERRORS:
        french, english = MESSAGES[error.code]
        assert {f for _, f, _, _ in fields(french) if f} == {f for _, f, _, _ in fields(english) if f}, error.code


def test_codes_are_unique() -> None:
    """A client that acts on a code acts on one refusal."""
    codes = [error.code for error in ERRORS]
    assert len(codes) == len(set(codes))


def test_fixed_sentences_ignore_the_language() -> None:
    """Three sentences are the interface's own; the others follow the caller."""
    assert [render_detail(ProjectNotFound(), locale) for locale in LOCALES] == ["Projet non trouvé"] * 2
    assert "10" in render_detail(TooLarge(limit=10), "en")


def test_possible_values_are_listed_in_neither_language() -> None:
    """The validating library's English "or" does not get into a French sentence."""
    told = [validation_text("literal_error", "", {"expected": "'a', 'b' or 'c'"}, locale) for locale in LOCALES]
    assert told == ["valeurs possibles\u00a0: 'a', 'b', 'c'", "possible values: 'a', 'b', 'c'"]


# What pydantic can say of a value where its schema has a node of this type; wrappers say nothing of their own.
SAID = {
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
BOUNDS = {"gt": "greater_than", "ge": "greater_than_equal", "lt": "less_than", "le": "less_than_equal"}
WRAPPERS = {"any", "default", "definitions", "function-after", "function-before", "function-wrap", "model-fields"}
WRAPPERS |= {"no-info", "nullable", "union"}


def nodes(schema: object) -> Iterator[Mapping[str, Any]]:
    """Every node of a pydantic-core schema that has a type."""
    if isinstance(schema, dict):
        if isinstance(schema.get("type"), str):
            yield schema
        schema = [value for key, value in schema.items() if key not in ("metadata", "serialization")]
    if isinstance(schema, (list, tuple)):
        for item in schema:
            yield from nodes(item)


def wires(kind: type[RequestModel] = RequestModel) -> Iterator[type[RequestModel]]:
    """Every model of what callers send."""
    for model in kind.__subclasses__():
        yield model
        yield from wires(model)


def test_whatever_a_value_is_refused_for_has_its_sentence() -> None:
    """No French answer carries the validating library's own English."""
    assert compose.BACKENDS, "the models are known once the whole product is loaded"
    ours = re.compile(r'(?:PydanticCustomError|_single_error)\(\s*"(\w+)"')
    said = set(ours.findall("".join(map(Path.read_text, ROOT.rglob("*.py")))))
    for model in wires():
        for node in nodes(model.__pydantic_core_schema__):
            assert node["type"] in SAID.keys() | WRAPPERS, (model, node["type"])
            said |= SAID.get(node["type"], set()) | {kind for bound, kind in BOUNDS.items() if bound in node}
    assert said >= {"tuple_type", "greater_than_equal", "unknown_name", "cell"}
    assert said - VALIDATION.keys() == set()


@pytest.mark.parametrize(
    ("header", "locale"),
    [
        (None, "fr"),
        ("", "fr"),
        ("en", "en"),
        ("en-GB,en;q=0.9", "en"),
        ("de, en;q=0.4, fr;q=0.3", "en"),
        ("en;q=0.4, fr", "fr"),
        ("en;q=x", "fr"),
        ("en;q=0", "fr"),
        ("*", "fr"),
        ("en;level=1", "en"),
    ],
)
def test_the_language_is_what_the_header_prefers(header: str | None, locale: str) -> None:
    """French unless English is preferred."""
    assert preferred_locale(header) == locale


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
def test_folding_forgets_case_and_marks(text: str, folded: str) -> None:
    """Texts compare by their folded form."""
    assert fold(text) == folded


@pytest.mark.parametrize(
    "spelling",
    [
        ID + "0",
        ID[:-1],
        f"urn:uuid:{ID}",
        f"{{{ID}}}",
        ID.replace("-", ""),
        f" {ID}",
        f"{ID}\n",
        "0x" + ID,
        "",
    ],
)
def test_only_one_spelling_is_a_user_id(spelling: str) -> None:
    """Whatever else a UUID parser takes is refused."""
    assert parse_uuid(spelling) is None
    with pytest.raises(InvalidUserId):
        read_user_id([(b"x-user-id", spelling.encode())])


def test_a_repeated_user_id_is_refused() -> None:
    """Two headers are two claims, even when they agree."""
    assert read_user_id([]) is None
    assert read_user_id([(b"x-user-id", ID.upper().encode())]) == UUID(ID)
    with pytest.raises(InvalidUserId):
        read_user_id([(b"x-user-id", ID.encode())] * 2)


def test_an_internal_token_proves_the_caller() -> None:
    """What the gateway signs is what the backend reads, nobody included."""
    tokens = InternalTokens("k" * 32)
    for caller in (Caller(UUID(ID), "a@example.org", is_admin=True), Caller(UUID(ID)), None):
        assert tokens.verify([(INTERNAL_HEADER, tokens.sign(caller))]) == caller
        assert tokens.sign(caller) == tokens.sign(caller)


def test_every_other_internal_token_is_refused() -> None:
    """Another key, another text, none, or two."""
    tokens, others = InternalTokens("k" * 32), InternalTokens("o" * 32)
    good = (INTERNAL_HEADER, tokens.sign(None))
    for headers in ([], [good, good], [(INTERNAL_HEADER, others.sign(None))], [(INTERNAL_HEADER, b"\xff.x.y")]):
        with pytest.raises(InvalidInternalToken):
            tokens.verify(headers)
