"""Measuring: labelled questions, judges, baselines, simulations. Nothing that serves imports it."""
