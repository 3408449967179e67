"""Which servers the clients of models trust: read once, for it takes as long as a short answer."""

from __future__ import annotations

import ssl
from functools import cache

import httpx


@cache
def trusted(of_environment: bool) -> ssl.SSLContext:
    """Return the certificates that a client of `httpx` checks servers by, the same for all of them.

    `of_environment` says whether SSL_CERT_FILE and SSL_CERT_DIR count, as `trust_env` does.
    """
    return httpx.create_ssl_context(trust_env=of_environment)
