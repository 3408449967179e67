"""Which addresses a crawler may speak to: public ones, unless the catalogue allows others."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Collection, Sequence
from typing import Any

from aiohttp import ThreadedResolver
from aiohttp.abc import AbstractResolver, ResolveResult

Host = tuple[str, int]
"""The name or number of a host, and its port."""

_GLOBAL = ipaddress.ip_network("2000::/3")
"""What of IPv6 is handed out to the open internet (IANA); the rest is none of it."""
_NOT_GLOBAL = tuple(
    ipaddress.ip_network(network)
    # benchmarking, documentation, ORCHID; protocol assignments of IPv4, its former 6to4 relays
    for network in ("2001:2::/48", "3fff::/20", "2001:10::/28", "192.0.0.0/24", "192.88.99.0/24")
)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)
"""The third quarter of an IPv6 address that ends in an IPv4 address of its site (RFC 5214)."""


class Refused(Exception):
    """An address, a link or a page that is not fetched; the message says why."""


def is_public(address: str) -> bool:
    """Return True if an IP address is one of the open internet, also when it wraps an IPv4 address."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if inner is None and (found in _NAT64 or int(found) >> 32 & 0xFFFFFFFF in _ISATAP):
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
        if found not in _GLOBAL:
            return False
    reserved = any(found in network for network in _NOT_GLOBAL)
    return found.is_global and not found.is_multicast and not reserved


class Gate(AbstractResolver):
    """Lets a crawler through to public addresses, and to those of the hosts that may be private.

    As a resolver it leaves out private addresses: the connection goes to the address that was checked, so
    that a name cannot change its address in between, and names that look like numbers (`0x7f.1`,
    `2130706433`) come through here, too. As the maker of sockets it looks at every address once more.
    """

    def __init__(self, private: Collection[Host] = (), inner: AbstractResolver | None = None) -> None:
        self._private = frozenset(private)
        self._inner = inner or ThreadedResolver()
        self._admitted: set[tuple[str, int]] = set()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a host that may be asked; raises Refused where it has none but others."""
        found = await self._inner.resolve(host, port, family)
        if (host, port) in self._private:
            self._admitted |= {(_plain(entry["host"]), port) for entry in found}
            return found
        public = [entry for entry in found if is_public(entry["host"])]
        if found and not public:
            raise Refused(self._told(host, [entry["host"] for entry in found]))
        return public

    def check(self, host: str, port: int) -> None:
        """Refuse a host that is written as a private address; names are checked when they are resolved."""
        try:
            address = ipaddress.ip_address(host.strip("[]"))
        except ValueError:
            return
        if (host, port) in self._private:
            self._admitted.add((_plain(host), port))
        elif not is_public(str(address)):
            raise Refused(self._told(host, [host]))

    def open(self, where: tuple[Any, Any, int, str, tuple[Any, ...]]) -> socket.socket:
        """Make the socket for one address (family, type, protocol, name, address); raises Refused."""
        family, kind, protocol, _, address = where
        host, port = str(address[0]), int(address[1])
        if (_plain(host), port) not in self._admitted and not is_public(host):
            raise Refused(self._told(host, [host]))
        return socket.socket(family, kind, protocol)

    async def close(self) -> None:
        """Release the inner resolver."""
        await self._inner.close()

    def _told(self, host: str, addresses: Sequence[str]) -> str:
        shown = "" if [host] == list(addresses) else f" ({addresses[0]})"
        way = (
            "`private = true` opens the hosts of `start` alone"
            if self._private
            else "set `private = true` in its source to allow it"
        )
        return f"{host}{shown} is no public address; {way}"


def _plain(address: str) -> str:
    return str(ipaddress.ip_address(address.partition("%")[0]))
