"""The persistent state, on SQLite or PostgreSQL: changes, stored requests, cards, the outbox and timers."""
