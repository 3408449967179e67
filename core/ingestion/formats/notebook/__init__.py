"""Jupyter notebooks."""

from core.ingestion.formats import MAX_PICTURED_BYTES, Kind

KIND = Kind((".ipynb",), max_bytes=MAX_PICTURED_BYTES)
