"""The address of the client behind a request: the peer's, or what a trusted reverse proxy forwarded."""

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, Self

from starlette.types import Scope

UNIX: Final = "unix"
FORWARDED_FOR: Final = b"x-forwarded-for"
FORWARDED_PROTO: Final = b"x-forwarded-proto"
_MAX_HOPS: Final = 32
_MAX_ADDRESS: Final = 64  # longer than any spelling of an address with a port
_IPV6_SITE: Final = 64  # bits that a provider gives to one customer
_PORT: Final = r"(?::[0-9]{1,5})?"
_ADDRESS: Final = re.compile(rf"\[(?P<bracketed>[^\]]*:[^\]]*)\]{_PORT}|(?P<ipv4>[0-9.]+){_PORT}|(?P<bare>.*:.*:.*)")

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Headers = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class TrustedProxies:
    """The reverse proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` headers are believed.

    Attributes:
        networks: where they connect from.
        is_socket_trusted: whether whoever connects through a unix socket is one of them.
    """

    networks: tuple[Network, ...] = ()
    is_socket_trusted: bool = False

    @classmethod
    def parse(cls, names: Iterable[str]) -> Self:
        """Return the proxies with these addresses and networks; `unix` stands for the peers of a unix socket.

        Raises:
            ValueError: a name is none of these, or is a network that contains every address.
        """
        names = tuple(names)
        networks = tuple(_parse_network(name) for name in names if name != UNIX)
        return cls(networks, is_socket_trusted=UNIX in names)

    def trust(self, address: Address) -> bool:
        """Return whether this is the address of a trusted proxy."""
        return any(address in network for network in self.networks)

    def client_address(self, peer: str | None, headers: Headers) -> str | None:
        """Return the address of the client behind a request of `peer` (None for a unix socket).

        Each proxy appends the address of its own peer to `X-Forwarded-For`. The list is therefore read from its end:
        the client is the first address there that is not a trusted proxy. What stands before it was written by the
        client and could say anything. An entry that is no address ends the search at the proxy that sent it.
        """
        if not self._trust_peer(peer):
            return peer

        client = peer
        for hop in reversed(_forwarded_hops(headers)):
            address = parse_address(hop)
            if address is None:
                break
            client = str(address)
            if not self.trust(address):
                break
        return client

    def resolve(self, scope: Scope) -> Scope:
        """Return the scope of a request with the client's address and scheme in place of the proxy's."""
        peer = scope["client"][0] if scope.get("client") else None
        if not self._trust_peer(peer):
            return scope

        client = self.client_address(peer, scope["headers"])
        return {
            **scope,
            "client": scope.get("client") if client == peer else (client, 0),
            "scheme": _forwarded_scheme(scope["headers"]) or scope["scheme"],
        }

    def _trust_peer(self, peer: str | None) -> bool:
        if peer is None:
            return self.is_socket_trusted
        if not self.networks:
            return False
        address = parse_address(peer)
        return address is not None and self.trust(address)


@functools.lru_cache(maxsize=10_000)
def parse_address(text: str) -> Address | None:
    """Return the address in a hop of `X-Forwarded-For`, with or without a port; None when it is not one.

    An IPv4 address that is written as IPv6 (`::ffff:192.0.2.1`) is returned as IPv4, and a zone (`%eth0`) is dropped:
    each client must have one spelling.
    """
    found = _ADDRESS.fullmatch(text) if len(text) <= _MAX_ADDRESS else None
    if found is None:
        return None
    try:
        address = ip_address(found["bracketed"] or found["bare"] or found["ipv4"])
    except ValueError:
        return None
    if isinstance(address, IPv4Address):
        return None if found["bracketed"] else address
    return address.ipv4_mapped or IPv6Address(int(address))


@functools.lru_cache(maxsize=10_000)
def address_block(address: str) -> str:
    """Return what limits per client count by: an IPv4 address, or the /64 network of an IPv6 address.

    One IPv6 customer owns at least a /64 and could use another address of it for every request.
    """
    known = parse_address(address)
    if known is None:
        return address
    return str(known) if isinstance(known, IPv4Address) else str(IPv6Network((known, _IPV6_SITE), strict=False))


def _parse_network(name: str) -> Network:
    try:
        network = ip_network(name)
    except ValueError:
        raise ValueError(f"{name!r} is neither an address, nor a network such as 10.0.0.0/8, nor {UNIX!r}") from None
    if network.prefixlen == 0:
        raise ValueError(f"{name!r} contains every address, so that any client could forge its own")
    return network


def _forwarded_hops(headers: Headers) -> list[str]:
    # A repeated header is one list (RFC 9110, section 5.3): whoever appends a line appends to the list.
    lines = b",".join(value for name, value in headers if name == FORWARDED_FOR).decode("latin-1")
    return [hop.strip() for hop in lines.rsplit(",", _MAX_HOPS)[-_MAX_HOPS:]] if lines else []


def _forwarded_scheme(headers: Headers) -> str | None:
    values = [value.decode("latin-1").strip().lower() for name, value in headers if name == FORWARDED_PROTO]
    return values[0] if len(values) == 1 and values[0] in ("http", "https") else None
