"""Parsing of text: encodings, times, emails, lookalikes, and type-ahead search. Pure: no I/O."""
