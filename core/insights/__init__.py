"""How well a community is served."""
