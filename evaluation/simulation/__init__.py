"""A community played on labelled questions."""
