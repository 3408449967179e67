"""The release that a question is about."""
