"""The language that a question is in."""
