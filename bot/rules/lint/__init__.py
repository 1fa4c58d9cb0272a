"""What is wrong with rules, alone and together: loops, chains, rules that never match, duplicates. Pure."""
