"""Every error that a person can meet, and the words for it: one table, made of a module for each subject."""
