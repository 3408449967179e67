"""A Chroma server instead of the Chroma inside this process: `CHROMA_URL=http://host:8000[/database]`.

One database of the server belongs to one Threadlore alone: collections in it that no live corpus has are
dropped. Nothing but ids and vectors is sent there; texts stay in SQL.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import chromadb
import httpx
from chromadb.config import Settings
from chromadb.errors import ChromaError

from core.errors import ConfigurationError, StorageError

DATABASE = "threadlore"
"""Database of the server where the address names none; other programs use the server's default one."""
CONNECT_SECONDS = 5.0
SECONDS = 60.0
"""Longest time of one request; Chroma's own client waits for ever."""


def connected(url: str) -> Any:
    """Return a client of the server, whose database is made if need be.

    Raises ConfigurationError for an address that is none, StorageError where no Chroma answers.
    """
    host, port, is_https, database = address(url)
    try:
        socket.create_connection((host, port), CONNECT_SECONDS).close()
        admin = chromadb.AdminClient(_settings(host, port, is_https))
        try:
            admin.create_database(database)
        except ChromaError as error:
            if "already exists" not in str(error):
                raise
        client = chromadb.HttpClient(
            host=host, port=port, ssl=is_https, database=database, settings=_settings()
        )
    except (ChromaError, httpx.HTTPError, OSError, ValueError, KeyError) as error:
        raise _away(url, error) from error
    # its session is made without any limit of time
    client._server._session.timeout = httpx.Timeout(SECONDS, connect=CONNECT_SECONDS)
    return client


def address(url: str) -> tuple[str, int, bool, str]:
    """Return host, port, whether it is https, and the database that an address names."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(
            "CHROMA_URL cannot be read; write it as http://host:8000 or http://host:8000/database."
        )
    is_https = parts.scheme == "https"
    return (
        parts.hostname,
        port or (443 if is_https else 8000),
        is_https,
        parts.path.strip("/") or DATABASE,
    )


@contextmanager
def told(url: str) -> Iterator[None]:
    """Turn what happens when the server is away into a sentence that says what to do."""
    try:
        yield
    except httpx.HTTPError as error:
        raise _away(url, error) from error


def _away(url: str, error: Exception) -> StorageError:
    reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
    return StorageError(
        f"No Chroma answers at {url} ({reason}); start it with `chroma run`, or take CHROMA_URL out of .env "
        f"to keep the vector index in the home. Nothing is lost: it is rebuilt from the database."
    )


def _settings(host: str = "", port: int = 0, is_https: bool = False) -> Settings:
    if not host:
        return Settings(anonymized_telemetry=False, _env_file=None)
    return Settings(
        _env_file=None,
        anonymized_telemetry=False,
        chroma_api_impl="chromadb.api.fastapi.FastAPI",
        chroma_server_host=host,
        chroma_server_http_port=port,
        chroma_server_ssl_enabled=is_https,
    )
