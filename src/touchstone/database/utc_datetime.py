"""The column type of points in time."""

from datetime import UTC, datetime

import sqlalchemy as sa


class UtcDateTime(sa.TypeDecorator[datetime]):
    """A column type for points in time, which are in UTC on both databases."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        """Convert a value to UTC before it is stored.

        Raises:
            ValueError: the value has no time zone, which is a programming error.
        """
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        """Return a stored value in UTC; SQLite returns it without its time zone."""
        if value is None:
            return None
        if value.tzinfo is None:
            return value.replace(tzinfo=UTC)
        return value.astimezone(UTC)
