"""Gatehouse: traffic rules and members, from Slack."""

__version__ = "1.0.0"
