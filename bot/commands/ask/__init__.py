"""Commands that ask, and vote on answers."""
