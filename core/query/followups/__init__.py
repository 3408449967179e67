"""Follow-ups, completed by rule."""
