"""How fast it is, each against a baseline in the same run."""
