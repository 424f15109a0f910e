"""Types of the responses to a bulk import."""

from msgspec import Struct


class RefusedLine(Struct, frozen=True, kw_only=True):
    """A line that was not stored, because it does not contain a valid record.

    Attributes:
        line: The number of the line, counted from 1 over the whole import.
        code: A stable English identifier of the reason.
        detail: One sentence for people.
    """

    line: int
    code: str
    detail: str


class BulkBatch(Struct, frozen=True, kw_only=True):
    """The result of importing a batch: a few hundred consecutive lines, stored in one transaction.

    Attributes:
        last_line: The number of the last line in the batch, counted from 1 over the whole import.
        created: The number of records that were created.
        updated: The number of existing records with the same key that were changed.
        unchanged: The number of existing records with the same key and the same values.
        refused: The lines that were not stored. If there are very many, only the first ones are listed.
    """

    last_line: int
    created: int
    updated: int
    unchanged: int
    refused: list[RefusedLine] = []
