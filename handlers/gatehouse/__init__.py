"""Commands about Gatehouse itself: help, status, audit and the Home tab."""
