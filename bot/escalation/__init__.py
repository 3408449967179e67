"""Questions that are put to people."""
