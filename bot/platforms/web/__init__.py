"""The playground in the browser, and the dashboard."""

NOBODY_SIGNS_IN = True
"""A person who opens the page chooses whom to play, even an admin."""
