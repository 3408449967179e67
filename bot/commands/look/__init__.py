"""Commands that look at how things are, and change nothing."""
