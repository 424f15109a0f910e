"""The catalog in memory: how it is loaded, how it follows the database, and how its index is kept and saved."""
