"""Dataset records: storage, requests and responses."""
