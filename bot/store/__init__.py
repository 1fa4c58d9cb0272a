"""The persistent state, on SQLite or PostgreSQL: changes, stored requests, cards, and the outbox with its timers."""
