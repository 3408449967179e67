"""Source distributions of a package index."""
