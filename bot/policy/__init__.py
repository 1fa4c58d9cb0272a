"""Who may do what, and who has to agree: the policy, its file, and what Slack says about a person."""
