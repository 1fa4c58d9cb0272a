"""Slack's side of Gatehouse: payload in, reply out. It decides nothing about rules and members."""
