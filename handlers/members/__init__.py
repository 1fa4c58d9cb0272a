"""Commands about members: what they answer, the forms, and how members look in Slack."""
