"""How well follow-ups are completed."""
