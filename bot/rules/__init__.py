"""What traffic rules mean: their model, what they match and do, edits, files, and what is wrong with them. Pure."""
