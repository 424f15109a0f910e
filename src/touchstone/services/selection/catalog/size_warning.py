"""The warning for operators about a catalog that is larger than any that was benchmarked."""

import structlog

from touchstone.database.engine import Database

log = structlog.get_logger("touchstone.catalog")


def warn_if_larger_than_benchmarked(database: Database, record_count: int) -> None:
    """Log a warning if a catalog has more records than were benchmarked with this kind of database.

    `docs/reference/scale.md` describes what to expect in this case.
    """
    if record_count > database.measured_records:
        log.warning("catalog larger than measured", records=record_count, measured_up_to=database.measured_records)
