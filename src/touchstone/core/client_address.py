"""The address of the client: that of the connection's peer, or the one that a trusted reverse proxy forwarded."""

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
        networks: addresses from which they connect.
        is_socket_trusted: whether the peers of a unix socket are trusted proxies.
    """

    networks: tuple[Network, ...] = ()
    is_socket_trusted: bool = False

    @classmethod
    def parse(cls, names: Iterable[str]) -> Self:
        """Return the proxies with these addresses and networks; `unix` stands for the peers of a unix socket.

        Raises:
            ValueError: a name is not an address or network, or it is a network that contains every address.
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
        the client is the first address there that is not a trusted proxy. The entries before it come from the client
        itself and prove nothing. An entry that is not an address ends the search at the proxy that sent it.
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
    """Return the address in a hop of `X-Forwarded-For`, with or without a port; None if it is not one.

    An IPv4 address written as IPv6 (`::ffff:192.0.2.1`) is returned as IPv4, and a zone (`%eth0`) is dropped, so that
    each client has a single spelling.
    """
    if len(text) > _MAX_ADDRESS:
        return None
    match = _ADDRESS.fullmatch(text)
    if match is None:
        return None

    try:
        address = ip_address(match["bracketed"] or match["bare"] or match["ipv4"])
    except ValueError:
        return None
    if isinstance(address, IPv4Address):
        return None if match["bracketed"] else address
    return address.ipv4_mapped or IPv6Address(int(address))


@functools.lru_cache(maxsize=10_000)
def address_block(address: str) -> str:
    """Return the block that limits per client apply to: an IPv4 address, or the /64 network of an IPv6 address.

    An IPv6 customer owns at least a /64 and could use another of its addresses for every request.
    """
    parsed = parse_address(address)
    if parsed is None:
        return address
    if isinstance(parsed, IPv4Address):
        return str(parsed)
    return str(IPv6Network((parsed, _IPV6_SITE), strict=False))


def _parse_network(name: str) -> Network:
    try:
        network = ip_network(name)
    except ValueError:
        raise ValueError(f"{name!r} is neither an address, nor a network such as 10.0.0.0/8, nor {UNIX!r}") from None
    if network.prefixlen == 0:
        raise ValueError(f"{name!r} contains every address, so that any client could forge its own")
    return network


def _forwarded_hops(headers: Headers) -> list[str]:
    """Return the last entries of `X-Forwarded-For`; repeated headers form one list (RFC 9110, section 5.3)."""
    values = b",".join(value for name, value in headers if name == FORWARDED_FOR).decode("latin-1")
    if not values:
        return []
    return [hop.strip() for hop in values.rsplit(",", _MAX_HOPS)[-_MAX_HOPS:]]


def _forwarded_scheme(headers: Headers) -> str | None:
    """Return the scheme in `X-Forwarded-Proto`, or None if it is missing, repeated or neither http nor https."""
    values = [value.decode("latin-1").strip().lower() for name, value in headers if name == FORWARDED_PROTO]
    if len(values) == 1 and values[0] in ("http", "https"):
        return values[0]
    return None
