"""Commands about what is kept of people."""
