"""Channels of a chat platform."""
