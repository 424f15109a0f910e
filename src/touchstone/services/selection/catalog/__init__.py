"""The in-memory catalog: loading, synchronization with the database, and maintenance of its index."""
