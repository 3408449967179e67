"""`threadlore init`: asks what a bot needs, and writes it."""
