"""Websites."""
