"""The playground in the browser, and the dashboard."""
