"""Whole recipes measured side by side."""
