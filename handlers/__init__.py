"""Slack's side of Gatehouse: payload in, reply out. The modules imported here are the list of what it does."""

from handlers import approvals, gatehouse, members, modals, rules

__all__ = ["approvals", "gatehouse", "members", "modals", "rules"]
