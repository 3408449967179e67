"""Answers and reports as Markdown that every platform takes."""
