"""The entry point for platforms, and what it is made of."""
