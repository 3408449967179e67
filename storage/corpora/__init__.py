"""Documents, passages and their word index."""
