"""`threadlore backup` and `restore`."""
