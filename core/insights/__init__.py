"""What is known of how a community is served."""
