"""The web server: who may ask, and what is sent."""
