"""Gatehouse: traffic rules and members, from Slack."""

__version__ = "0.1.0"
