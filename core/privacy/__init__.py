"""Whose words are kept, for how long, and under which name."""
