"""PDF."""

from core.ingestion.formats import MAX_PICTURED_BYTES, Kind

KIND = Kind((".pdf",), ("application/pdf",), is_binary=True, max_bytes=MAX_PICTURED_BYTES)
