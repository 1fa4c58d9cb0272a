"""What must survive the process: changes, requests taken in, cards, what Slack is owed. SQLite or PostgreSQL."""
