"""Reindexing as a whole: killed at random moments, from every kind of source at once."""
