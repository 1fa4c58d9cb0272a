"""What rules, members and changes are: pure, without I/O, clock or Slack."""
