"""Files of rules and members: imports with their previews, and exports."""
