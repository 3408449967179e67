"""Answers, pairs and votes."""
