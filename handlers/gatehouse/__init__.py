"""Commands about Gatehouse itself: help, status, audit, settings and the Home tab."""
