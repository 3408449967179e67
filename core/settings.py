"""Settings from `.env`, built once and passed."""
