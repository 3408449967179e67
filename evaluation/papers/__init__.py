"""The papers' own tables, with what their rows come to here: `python -m evaluation.papers`."""
