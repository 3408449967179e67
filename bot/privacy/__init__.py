"""What is stored about people: shown to them, and forgotten."""
