"""What people say of answers, and what follows from it."""
