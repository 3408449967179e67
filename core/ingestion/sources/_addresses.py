"""Which addresses a crawler may speak to: public ones, unless the catalogue allows others."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence

from aiohttp import ThreadedResolver
from aiohttp.abc import AbstractResolver, ResolveResult


class Refused(Exception):
    """An address, a link or a page that is not fetched; the message says why."""


def is_public(address: str) -> bool:
    """Tell whether an IP address is one of the open internet, also when it wraps an IPv4 address."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if inner is not None:
            return is_public(str(inner))
        if found in _NAT64:
            return is_public(str(ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)))
    return found.is_global and not found.is_multicast


_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class PublicResolver(AbstractResolver):
    """Resolve names and leave out private addresses.

    The connection goes to the address that was checked, so that a name cannot change its address in
    between. Names that look like numbers (`0x7f.1`, `2130706433`) come through here, too.
    """

    def __init__(self, inner: AbstractResolver | None = None) -> None:
        self._inner = inner or ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the public addresses of a host; raises Refused where it has none but others."""
        found = await self._inner.resolve(host, port, family)
        public = [entry for entry in found if is_public(entry["host"])]
        if found and not public:
            raise Refused(_private(host, [entry["host"] for entry in found]))
        return public

    async def close(self) -> None:
        """Release the inner resolver."""
        await self._inner.close()


def check_literal(host: str) -> None:
    """Refuse a host that is written as a private address; names are checked when they are resolved."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return
    if not is_public(str(address)):
        raise Refused(_private(host, [host]))


def _private(host: str, addresses: Sequence[str]) -> str:
    shown = "" if [host] == list(addresses) else f" ({addresses[0]})"
    return f"{host}{shown} is no public address; set `private = true` in its source to allow it"
