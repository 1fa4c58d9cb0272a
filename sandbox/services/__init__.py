"""Stand-ins for both specified services: Starlette over one SQLite file, with a switch for what the specifications leave open."""
