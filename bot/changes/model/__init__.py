"""What a change is, as a value: what it writes, where it stands, its parts and its items."""
