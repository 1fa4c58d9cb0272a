"""What must survive the process: changes, requests taken in, cards, the outbox, timers. SQLite or PostgreSQL."""
