"""Faults that are injected into a process that serves: what was lost, and how long until it served again."""
