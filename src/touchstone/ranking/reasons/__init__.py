"""Why a record is where it is in a ranking, and what would move it."""
