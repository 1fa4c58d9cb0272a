"""Lint of rules, alone and together: loops, chains, rules that never match, duplicates. Pure: no I/O."""
