"""The column type for timestamps."""

from datetime import UTC, datetime

import sqlalchemy as sa


class UtcDateTime(sa.TypeDecorator[datetime]):
    """A column type for timestamps, which are in UTC in both databases."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        """Convert a value to UTC before it is stored.

        Raises:
            ValueError: the value has no time zone.
        """
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        """Return a stored value in UTC. SQLite does not store the time zone."""
        if value is None:
            return None
        if value.tzinfo is None:
            return value.replace(tzinfo=UTC)
        return value.astimezone(UTC)
