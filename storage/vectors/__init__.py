"""Nearest vectors, by Chroma."""
