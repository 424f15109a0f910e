"""Documents from unknown sources are parsed within limits, and what is wrong with them has a stable code."""

import pytest

from touchstone.metadata import parsing
from touchstone.metadata.parsing import DocumentError, decode, parse_csv, parse_json, parse_yaml


def code_of(function: object, argument: object) -> str:
    with pytest.raises(DocumentError) as failure:
        list(function(argument) or ())  # type: ignore[operator]
    return str(failure.value.code)


class TestDecoding:
    def test_utf_8_with_and_without_a_mark(self) -> None:
        assert decode("é".encode()) == decode("é".encode("utf-8-sig")) == "é"

    def test_utf_16_needs_a_mark(self) -> None:
        assert decode("é".encode("utf-16")) == "é"

    def test_another_encoding_is_refused_instead_of_guessed(self) -> None:
        assert code_of(decode, "données".encode("latin-1")) == "wrong_encoding"

    def test_binary_content_is_refused(self) -> None:
        assert code_of(decode, b"PK\x00\x00") == "binary_content"

    @pytest.mark.parametrize("mark", [b"PK\x03\x04", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ", b"7z\xbc\xaf"])
    def test_archives_are_refused(self, mark: bytes) -> None:
        assert code_of(decode, mark + b"\xff") == "binary_content"

    def test_a_huge_document_is_refused_before_it_is_decoded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(parsing, "MAX_DOCUMENT_BYTES", 10)
        assert code_of(decode, b"\xff" * 11) == "document_too_large"


class TestJson:
    def test_a_repeated_key_keeps_its_first_value_and_is_listed(self) -> None:
        parsed = parse_json('{"a": 1, "b": {"a": 2, "a": 3}}')
        assert parsed.data == {"a": 1, "b": {"a": 2}}
        assert [part.code for part in parsed.rejected] == ["duplicate_key"]

    @pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
    def test_a_number_that_is_not_finite_becomes_unknown(self, number: str) -> None:
        parsed = parse_json(f'{{"a": {number}, "b": 1}}')
        assert parsed.data == {"a": None, "b": 1}
        assert [part.code for part in parsed.rejected] == ["number_not_finite"]

    @pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 1000 + "1" + "}" * 1000])
    def test_deep_nesting_is_refused(self, text: str) -> None:
        assert code_of(parse_json, text) == "too_deep"

    def test_brackets_in_a_text_are_no_nesting(self) -> None:
        assert parse_json('"' + "[" * 1000 + '\\"["').data == "[" * 1000 + '"['

    def test_many_fields_are_refused(self) -> None:
        text = "{" + ",".join(f'"k{index}":1' for index in range(10_001)) + "}"
        assert code_of(parse_json, text) == "too_many_fields"

    def test_many_values_are_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(parsing, "MAX_VALUES", 100)
        assert code_of(parse_json, "[" + ",".join(['{"a":1}'] * 102) + "]") == "too_many_values"

    def test_a_long_number_is_refused(self) -> None:
        assert code_of(parse_json, "9" * 100_000) == "number_too_long"

    def test_an_integer_of_more_than_64_bits_stays_a_text(self) -> None:
        parsed = parse_json(f"[{2**63 - 1}, {2**64}]")
        assert parsed.data == [2**63 - 1, str(2**64)]
        assert [part.code for part in parsed.rejected] == ["number_too_large"]

    @pytest.mark.parametrize("escape", [r"\u0000", r"\ud800"])
    def test_what_no_database_holds_is_replaced(self, escape: str) -> None:
        parsed = parse_json(f'{{"a{escape}": ["b{escape}"]}}')
        assert parsed.data == {"a\ufffd": ["b\ufffd"]}
        assert [part.code for part in parsed.rejected] == ["unstorable_character"]
        assert parse_yaml(r'a: "\0"').data == {"a": "\ufffd"}

    def test_a_pair_of_surrogates_is_a_character(self) -> None:
        assert parse_json(r'"\ud83d\ude00"').data == "\U0001f600"

    @pytest.mark.parametrize("text", ['{"a": 1', '{"a": "b', "[1,"])
    def test_a_truncated_document_is_called_so(self, text: str) -> None:
        assert code_of(parse_json, text) == "truncated_document"

    def test_other_faults_name_their_place(self) -> None:
        with pytest.raises(DocumentError) as failure:
            parse_json('{"a": 1,\n "b": }')
        assert (failure.value.code, failure.value.facts) == ("invalid_json", {"line": 2, "column": 7})


class TestYaml:
    def test_no_is_norwegian_and_a_date_is_a_text(self) -> None:
        assert parse_yaml("a: no\nb: 2020-01-01\nc: on\nd: true\ne: 012").data == {
            "a": "no", "b": "2020-01-01", "c": "on", "d": True, "e": 12,
        }  # fmt: skip

    @pytest.mark.parametrize("text", ["a: &x 1", "a: &x [1]\nb: *x", "&x a: 1"])
    def test_anchors_and_aliases_are_refused(self, text: str) -> None:
        assert code_of(parse_yaml, text) == "yaml_anchor_refused"

    @pytest.mark.parametrize("text", ["a: !!python/object/apply:os.system [ls]", "!local {a: 1}", "a: !!str 1"])
    def test_tags_are_refused(self, text: str) -> None:
        assert code_of(parse_yaml, text) == "yaml_tag_refused"

    def test_a_bomb_of_aliases_is_refused(self) -> None:
        lines = ["a0: &a0 [lol]"] + [
            f"a{level}: &a{level} [{','.join([f'*a{level - 1}'] * 9)}]" for level in range(1, 10)
        ]
        assert code_of(parse_yaml, "\n".join(lines)) == "yaml_anchor_refused"

    @pytest.mark.parametrize("text", ["[" * 100 + "]" * 100, "- " * 5000 + "a"])
    def test_deep_nesting_is_refused(self, text: str) -> None:
        assert code_of(parse_yaml, text) == "too_deep"

    def test_many_fields_are_refused(self) -> None:
        assert code_of(parse_yaml, "\n".join(f"k{index}: 1" for index in range(10_001))) == "too_many_fields"

    def test_repeated_keys_and_numbers_that_are_not_finite_are_listed(self) -> None:
        parsed = parse_yaml("a: 1\na: 2\nb: .nan\nc: .inf")
        assert parsed.data == {"a": 1, "b": None, "c": None}
        assert sorted(part.code for part in parsed.rejected) == [
            "duplicate_key", "number_not_finite", "number_not_finite",
        ]  # fmt: skip

    @pytest.mark.parametrize("text", ["a: [", "a: b: c", "\t- a"])
    def test_faults_have_a_code(self, text: str) -> None:
        assert code_of(parse_yaml, text) == "invalid_yaml"


class TestCsv:
    def test_rows_are_read_by_the_names_of_their_columns(self) -> None:
        assert list(parse_csv('a,b\n1,"2,3"\n\n')) == [{"a": "1", "b": "2,3"}]

    def test_a_row_with_a_missing_cell_is_refused(self) -> None:
        assert code_of(parse_csv, "a,b\n1\n") == "wrong_number_of_cells"
