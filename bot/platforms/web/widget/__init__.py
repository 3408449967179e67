"""The widget on documentation sites: one script, and what it asks."""
