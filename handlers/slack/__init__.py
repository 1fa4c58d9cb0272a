"""Slack's wire, both ways: payloads in, replies and files out."""
