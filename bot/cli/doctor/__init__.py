"""`threadlore doctor`: looks at everything that a working bot needs."""
