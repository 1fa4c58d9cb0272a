"""A module for each service: the words after its verbs -> its commands. `handlers.grammar` is the way in."""
