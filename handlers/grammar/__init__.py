"""The text of a command, read into a Command and written back."""
