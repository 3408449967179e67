"""Questions in a channel: claimed, answered, updated after edits, withdrawn when deleted."""
