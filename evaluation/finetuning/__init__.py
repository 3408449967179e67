"""A model of one's own: memory's good answers as instruction data, and adapters trained on them."""
