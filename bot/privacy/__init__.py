"""What is held of people, shown to them and forgotten."""
