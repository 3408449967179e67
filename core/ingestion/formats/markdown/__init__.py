"""Markdown as documentation tools write it."""
