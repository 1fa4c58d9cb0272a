"""Lint of rules, alone and together: loops, duplicates, rules that never match or are never reached. Pure: no I/O."""
