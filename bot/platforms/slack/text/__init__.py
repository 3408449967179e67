"""Markdown to Slack's own notation and back."""
