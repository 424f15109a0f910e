"""Types of the responses to a bulk import."""

from msgspec import Struct


class RefusedLine(Struct, frozen=True, kw_only=True):
    """A line that was not stored, because it does not contain a valid record.

    Attributes:
        line: the number of the line, counted from 1 over the whole import.
        code: a stable English identifier of the reason.
        detail: one sentence for people.
    """

    line: int
    code: str
    detail: str


class BulkBatch(Struct, frozen=True, kw_only=True):
    """The result of importing a batch: a few hundred consecutive lines, stored in one transaction.

    Attributes:
        last_line: the number of the last line in the batch, counted from 1 over the whole import.
        created: the number of records that were created.
        updated: the number of existing records with the same key that were changed.
        unchanged: the number of existing records with the same key and the same values.
        refused: the lines that were not stored. If there are very many, only the first ones are listed.
    """

    last_line: int
    created: int
    updated: int
    unchanged: int
    refused: list[RefusedLine] = []
