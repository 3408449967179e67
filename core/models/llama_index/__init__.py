"""Models of llama-index's integrations behind Threadlore's own ports."""
