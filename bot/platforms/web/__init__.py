"""The playground in the browser, and the dashboard."""

NOBODY_SIGNS_IN = True
"""Whoever opens the page chooses whom to play, even an admin."""
