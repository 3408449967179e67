"""Answers quoted from pages, where no model writes."""
