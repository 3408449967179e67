"""By which names and addresses a server on this machine may be asked.

A site that somebody visits can have its own name point at this machine (DNS rebinding) but not send another
`Host` than that name. So only names that are known are answered, and addresses, which no one can point
elsewhere.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection

HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?")
"""A `Host` header: a name or an address, with or without a port."""


class KnownHosts:
    """What a server is known by: `host` is what it listens on, `allowed` are names of a proxy before it.

    A server that listens on this machine alone, without such names, is asked as localhost.
    """

    def __init__(self, host: str, allowed: Collection[str] = ()) -> None:
        self.allowed = frozenset(map(name_of, allowed)) - {""}
        self.names = (self.allowed | {name_of(host)}) - {""}
        """All names and addresses that it is known by, localhost left out."""
        self.local = is_loopback(host) and not allowed
        """Whether the server is meant for this machine only."""

    def knows(self, host: str) -> bool:
        """Return True if the server answers to that name or address, with or without a port."""
        name = name_of(host)
        if self.local:
            return is_loopback(name)
        return name in self.names or is_loopback(name) or _is_address(name)

    def refusal(self, host: str) -> str:
        """Say that the server does not answer to a host, and what to set so that it does."""
        if self.local:
            return (
                "This server answers to localhost only; set THREADLORE_HOST to open it up, or name a proxy's "
                "host in THREADLORE_ALLOWED_HOSTS."
            )
        name = name_of(host)
        return f"This server is not known as {name}; if it is to be, name it in THREADLORE_ALLOWED_HOSTS."


def name_of(host: str) -> str:
    """Return the name or address of a host without its port, as names are compared; empty for none."""
    found = HOST.fullmatch(host) or HOST.fullmatch(f"[{host}]")
    return found[1].lower().strip("[]").rstrip(".") if found else ""


def is_loopback(host: str) -> bool:
    """Return True if a host, with or without a port, can only mean this machine."""
    name = name_of(host)
    if _is_address(name):
        return ipaddress.ip_address(name).is_loopback
    return name == "localhost" or name.endswith(".localhost")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
