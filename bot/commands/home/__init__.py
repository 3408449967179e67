"""Commands that set a home up, look after it and serve."""
