"""What votes teach the ranking of pages."""
