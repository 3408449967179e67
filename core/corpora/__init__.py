"""The corpora as a whole: when they are read, and how they are."""
