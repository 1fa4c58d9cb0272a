"""Text as people and programs write it: encodings, durations, emails, look-alikes, and search by a few letters. Pure."""
