"""The model of a change, as values: its edits, its state, its parts and its items."""
