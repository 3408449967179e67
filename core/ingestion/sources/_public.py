"""Which addresses are of the open internet; it imports little, for git asks as well."""

from __future__ import annotations

import ipaddress
import socket

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


class NotPublic(Exception):
    """A host that is on the own network; the message is its name."""


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


def public_addresses(host: str, port: int) -> tuple[str, ...]:
    """Return the addresses of a host; raises NotPublic where one is private, OSError where there is none."""
    try:
        found = sorted(
            {str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
        )
    except UnicodeError:  # a name that no host can have
        raise OSError(f"there is no host {host}") from None
    if not found or not all(map(is_public, found)):
        raise NotPublic(host)
    return tuple(found)
