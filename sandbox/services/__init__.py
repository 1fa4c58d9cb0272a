"""Both specified services, as stand-ins: Starlette over one SQLite file. What the specifications leave open is a switch."""
