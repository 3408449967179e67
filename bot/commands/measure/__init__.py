"""Commands that measure; what they do is in `evaluation`."""
