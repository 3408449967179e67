"""reStructuredText with Sphinx."""
