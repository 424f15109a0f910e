"""The texts of a document in which a quote can stand."""

from touchstone.metadata.readers.source_document import SourceDocument
from touchstone.metadata.verbatim_quotes import contains_quote, document_texts


def test_a_quote_is_found_as_it_is_written_and_as_it_is_decoded() -> None:
    """Escapes in JSON, indentation in YAML and doubled quotation marks in CSV do not hide a quote."""
    documents = {
        "a.json": b'{"text": "one\\ntwo \\u00e9", "rows": 12, "flag": true}',
        "a.yaml": b"text: |\n  one\n  two \xc3\xa9\nrows: 12\nflag: true\n",
        "a.csv": b'text,rows,flag\n"one\ntwo \xc3\xa9",12,true\n',
    }
    for name, content in documents.items():
        texts = document_texts(SourceDocument(content, name))
        for quote in ("one\ntwo é", "12", "true", "text"):
            assert contains_quote(texts, quote), (name, quote)
        assert not contains_quote(texts, "three")


def test_a_document_that_cannot_be_parsed_is_searched_as_it_is_written() -> None:
    """A broken document still has its words; one that is no text has none."""
    assert contains_quote(document_texts(SourceDocument(b'{"text": "one', "a.json")), '"one')
    assert document_texts(SourceDocument(b"\xff\xfe\xff", "a.md")) == ()
