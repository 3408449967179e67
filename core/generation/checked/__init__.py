"""Whether what a model wrote stands in what it was given."""
