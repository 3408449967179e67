"""Origins of websites, written as browsers send them: `https://docs.example.org`."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

from core.system.hosts import is_loopback

_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")


def origin_of(text: str) -> str:
    """Return an origin as browsers send it; raises ValueError that says what is wrong with it."""
    if "*" in text:
        raise ValueError(f"{text!r} stands for any site; name each site by itself")
    parsed = urlsplit(text.strip())
    if parsed.scheme not in _PORTS or not parsed.hostname:
        raise ValueError(f"{text!r} is no origin; write it as https://docs.example.org")
    if parsed.path not in ("", "/") or parsed.query or parsed.fragment or "@" in parsed.netloc:
        raise ValueError(f"{text!r} is more than an origin; write no path, as in https://docs.example.org")
    host, port = _host(parsed.hostname), parsed.port
    return f"{parsed.scheme}://{host}" + ("" if port in (None, _PORTS[parsed.scheme]) else f":{port}")


def is_readable_on_its_way(origin: str) -> bool:
    """Return True for a site without TLS that is not on this machine: what it sends can be changed."""
    parsed = urlsplit(origin)
    return parsed.scheme == "http" and not is_loopback(parsed.hostname or "")


def _host(host: str) -> str:
    if ":" in host:
        return f"[{ipaddress.IPv6Address(host).compressed}]"
    name = host.rstrip(".").encode("idna").decode("ascii").lower()
    if not _NAME.fullmatch(name):
        raise ValueError(f"{host!r} is no name of a host")
    return name
