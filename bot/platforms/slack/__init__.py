"""Slack."""

SENDS_NO_FILES = True
"""Apps may send files only with more rights than answering takes."""
