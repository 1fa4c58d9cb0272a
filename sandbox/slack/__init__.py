"""A local Slack: Web API, signed deliveries, validation and a page, strict where Slack is."""
