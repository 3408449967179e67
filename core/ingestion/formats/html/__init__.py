"""HTML pages."""

from core.ingestion.formats import Kind

KIND = Kind((".html", ".htm"), ("text/html", "application/xhtml+xml"))
