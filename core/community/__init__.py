"""Channels, people who help, and when the bot keeps silent."""
