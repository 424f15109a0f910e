"""The interface to the databases that the benchmark measures, and the columns that the product indexes."""

from typing import Final, Protocol

from touchstone.core.attributes import FLAGS
from touchstone.database.tables import datasets
from touchstone.services.selection.datasets.store import CATALOG_QUERY

CATALOG_VERSION: Final = 1
INDEXED_COLUMNS: Final = tuple(
    column.name for column in datasets.c if column.name in CATALOG_QUERY.selected_columns or column.name in FLAGS
)
"""The columns from which the product builds its index in memory. It reads the flags packed into one integer."""


class CatalogDatabase(Protocol):
    """A database of the product, with the present schema."""

    @property
    def url(self) -> str:
        """The URL of the database in the format of the settings."""

    def fill(self, record_count: int) -> None:
        """Replace all records with `record_count` generated ones."""

    def last_id(self) -> int:
        """Return the largest id of a record."""

    def last_public_id(self) -> int:
        """Return the largest id of a public record."""

    def restore(self, record_count: int) -> None:
        """Remove the records and the changes that a run has made to a catalog of `record_count` records."""

    def read_columns(self) -> None:
        """Read the columns in `INDEXED_COLUMNS` of all records as fast as the database can, and discard them."""

    def change_records(self, count: int) -> None:
        """Change the citations of several records, as another process would."""

    def insert_rows(self, first_id: int, count: int) -> None:
        """Insert generated rows as fast as the database can, for comparison with a bulk import."""
