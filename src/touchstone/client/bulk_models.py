"""Types of the responses to a bulk import."""

from msgspec import Struct


class RefusedLine(Struct, frozen=True, kw_only=True):
    """A line that does not contain a record which the service can take.

    Attributes:
        line: The number of the line, counted from 1 over the whole import.
        code: A stable English identifier of the reason.
        detail: One sentence for people.
    """

    line: int
    code: str
    detail: str


class BulkBatch(Struct, frozen=True, kw_only=True):
    """What a bulk import has done with some hundreds of consecutive lines, which were stored in one transaction.

    Attributes:
        last_line: The number of the last of these lines, counted from 1 over the whole import.
        created: How many records were created.
        updated: How many records with the same key existed and were changed.
        unchanged: How many records with the same key existed with the same values.
        refused: The lines that were not stored. If there are very many of them, not all are listed.
    """

    last_line: int
    created: int
    updated: int
    unchanged: int
    refused: list[RefusedLine] = []
