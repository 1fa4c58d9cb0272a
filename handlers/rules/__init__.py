"""Commands about rules: what they answer, the forms, and how rules look in Slack."""
