"""Commands about community memory."""
