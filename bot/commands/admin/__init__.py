"""Commands that change what is answered, from what, and where."""
