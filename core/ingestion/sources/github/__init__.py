"""Issues and discussions of GitHub."""
