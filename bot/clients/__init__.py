"""The shared client for both services: rules and members. One request path, typed answers, typed errors."""
