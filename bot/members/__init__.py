"""What members of a site mean: their model, why somebody has access, and tables of members. Pure."""
