"""The database: connections and transactions, tables, version counters and migrations."""
