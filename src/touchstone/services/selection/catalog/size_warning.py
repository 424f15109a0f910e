"""The warning that operators read when a catalog has more records than have been measured in its database."""

import structlog

from touchstone.database.engine import Database

log = structlog.get_logger("touchstone.catalog")


def warn_if_larger_than_measured(database: Database, record_count: int) -> None:
    """Log a warning if a catalog has more records than have been measured in a database of this kind.

    `docs/reference/scale.md` says what to expect then.
    """
    if record_count > database.measured_records:
        log.warning("catalog larger than measured", records=record_count, measured_up_to=database.measured_records)
