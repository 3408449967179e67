"""Release notes, found by the versions that they name."""
