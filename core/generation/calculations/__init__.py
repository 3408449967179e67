"""Plain calculations by rule: sums, sizes, times, rates, dates, percentages."""
