"""Ids of texts: the same text always gets the same id."""

from __future__ import annotations

import hashlib


def content_hash(*parts: str) -> str:
    """Hash texts to 32 hexadecimal digits; the boundary between parts counts."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return digest.hexdigest()
