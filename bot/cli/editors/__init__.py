"""The community's knowledge in people's editors, by the Model Context Protocol (MCP)."""
