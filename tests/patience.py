"""How long tests wait on a machine that may be busy with other things."""

PATIENCE = 90.0
"""Seconds after which something has not happened."""
SOON = 25.0
"""Seconds for what must not wait for the half a minute, or more, that a server asks for."""
