"""Cards of changes, the decisions that people take on them, and their words."""
