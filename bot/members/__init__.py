"""Members of a site: their model, access checks, and tables of members. Pure: no I/O."""
