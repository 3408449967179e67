"""A question's way through the engine."""
