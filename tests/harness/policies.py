"""Policies that several stories begin with."""

BREAK_GLASS = """
[roles.everyone]
channels = ["C0OPS0001"]
may = ["*"]

[roles.oncall]
groups = ["S0ONCALL"]

[[guards]]
operation = "member.grant"
guard = "approve"
break_glass = ["oncall"]
"""
"""Granting wants approval, which those on call may override."""
