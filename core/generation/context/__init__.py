"""What the model is given: reduced, selected, and fitted to its window (QAMR, steps 3 and 4)."""
