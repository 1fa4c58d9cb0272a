"""Words for every error that a person can meet, one table."""
