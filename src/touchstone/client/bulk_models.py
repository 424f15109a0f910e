"""Types of the responses to a bulk import."""

from msgspec import Struct


class RefusedLine(Struct, frozen=True, kw_only=True):
    """A line that the service did not store, because it does not contain a valid record.

    Attributes:
        line: The number of the line, counted from 1 over the whole import.
        code: A stable English identifier of the reason.
        detail: One sentence for people.
    """

    line: int
    code: str
    detail: str


class BulkBatch(Struct, frozen=True, kw_only=True):
    """What the service has done with a batch: some hundreds of consecutive lines, stored in one transaction.

    Attributes:
        last_line: The number of the last of these lines, counted from 1 over the whole import.
        created: How many records were created.
        updated: How many records with the same key existed and were changed.
        unchanged: How many records with the same key existed with the same values.
        refused: The lines that were not stored. If there are very many, only the first ones are listed.
    """

    last_line: int
    created: int
    updated: int
    unchanged: int
    refused: list[RefusedLine] = []
