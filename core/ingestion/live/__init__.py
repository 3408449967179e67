"""Channels of chat platforms as they are now, read through the platforms' APIs; a copy is kept of each."""
