"""Traffic rules: their model, matching and effects, edits, files, and lint. Pure: no I/O."""
