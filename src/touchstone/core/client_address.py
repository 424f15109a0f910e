"""The address of the client: that of the connection's peer, or the one that a trusted reverse proxy forwarded."""

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, Self

from starlette.types import Scope

# The name by which the operator trusts the peers of a unix socket, which have no address.
UNIX_SOCKET_PEERS: Final = "unix"

_FORWARDED_FOR_HEADER: Final = b"x-forwarded-for"
_FORWARDED_PROTO_HEADER: Final = b"x-forwarded-proto"
_MAX_FORWARDED_ENTRIES: Final = 32
_MAX_ADDRESS_LENGTH: Final = 64  # longer than any spelling of an address with a port
_IPV6_CUSTOMER_PREFIX_BITS: Final = 64  # a provider gives each customer at least one network of this size

_PORT_PATTERN: Final = r"(?::[0-9]{1,5})?"
_ADDRESS_PATTERN: Final = re.compile(
    rf"\[(?P<bracketed_ipv6>[^\]]*:[^\]]*)\]{_PORT_PATTERN}"
    rf"|(?P<ipv4>[0-9.]+){_PORT_PATTERN}"
    r"|(?P<ipv6>.*:.*:.*)"
)

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Headers = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class TrustedProxies:
    """The reverse proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` headers are believed.

    Attributes:
        networks: the networks from which they connect; a single address is a network of its own.
        is_unix_socket_trusted: whether every peer of a unix socket is a trusted proxy.
    """

    networks: tuple[Network, ...] = ()
    is_unix_socket_trusted: bool = False

    @classmethod
    def parse(cls, names: Iterable[str]) -> Self:
        """Create the proxies that the operator has named by their addresses and networks.

        The name `unix` stands for the peers of a unix socket.

        Raises:
            ValueError: a name is not an address or network, or it is a network that contains every address.
        """
        names = tuple(names)
        networks = tuple(_parse_network(name) for name in names if name != UNIX_SOCKET_PEERS)
        return cls(networks, is_unix_socket_trusted=UNIX_SOCKET_PEERS in names)

    def contains(self, address: Address) -> bool:
        """Return whether this is the address of a trusted proxy."""
        return any(address in network for network in self.networks)

    def find_client_address(self, peer_address: str | None, headers: Headers) -> str | None:
        """Return the address of the client whose request has reached us from `peer_address`.

        The peer of a unix socket has no address: `peer_address` is None, and so is the result if the headers name
        no client.

        Each proxy appends the address of its own peer to `X-Forwarded-For`. The entries are therefore read from the
        last one backwards, and the first address that is not a trusted proxy is the client. The client itself may
        have written the entries before that one, so they prove nothing. An entry that is not an address ends the
        search at the proxy that sent it.
        """
        if not self._trusts_peer(peer_address):
            return peer_address

        client_address = peer_address
        for entry in reversed(_read_forwarded_for(headers)):
            address = parse_address(entry)
            if address is None:
                return client_address

            client_address = str(address)
            if not self.contains(address):
                return client_address

        return client_address

    def apply_forwarded_headers(self, scope: Scope) -> Scope:
        """Return the ASGI scope of a request with the client's address and scheme in place of the proxy's.

        Everything that handles the request afterwards can then ignore that there is a proxy. A scope whose peer is
        not a trusted proxy is returned as it is. The port of a forwarded client is unknown and therefore 0.
        """
        peer = scope.get("client")
        peer_address = peer[0] if peer else None
        if not self._trusts_peer(peer_address):
            return scope

        headers = scope["headers"]
        client_address = self.find_client_address(peer_address, headers)
        client = peer if client_address == peer_address else (client_address, 0)
        scheme = _read_forwarded_scheme(headers) or scope["scheme"]
        return {**scope, "client": client, "scheme": scheme}

    def _trusts_peer(self, peer_address: str | None) -> bool:
        """Return whether the peer of a connection is a trusted proxy; None stands for the peer of a unix socket."""
        if peer_address is None:
            return self.is_unix_socket_trusted

        if not self.networks:  # spares most installations the parsing of an address for each request
            return False

        address = parse_address(peer_address)
        return address is not None and self.contains(address)


@functools.lru_cache(maxsize=10_000)
def parse_address(text: str) -> Address | None:
    """Return the IP address in an entry of `X-Forwarded-For`, or None if the entry is not an address.

    A port is ignored, as in `192.0.2.1:5678` or `[2001:db8::7]:443`. So that each client has a single address, an
    IPv4 address written as IPv6 (`::ffff:192.0.2.1`) is returned as IPv4, and the zone of an IPv6 address (`%eth0`)
    is dropped.
    """
    if len(text) > _MAX_ADDRESS_LENGTH:
        return None

    match = _ADDRESS_PATTERN.fullmatch(text)
    if match is None:
        return None

    try:
        address = ip_address(match["ipv4"] or match["ipv6"] or match["bracketed_ipv6"])
    except ValueError:
        return None

    if isinstance(address, IPv4Address):
        return address
    address_without_zone = IPv6Address(int(address))
    return address_without_zone.ipv4_mapped or address_without_zone


@functools.lru_cache(maxsize=10_000)
def address_block(client_address: str) -> str:
    """Return the block of addresses that counts as one client wherever a limit applies to each client.

    An IPv4 address is a block of its own. An IPv6 address belongs to its /64 network, because a customer who owns a
    /64 could use another of its addresses for every request. Text that is not an address is returned unchanged.
    """
    address = parse_address(client_address)
    if address is None:
        return client_address
    if isinstance(address, IPv4Address):
        return str(address)

    network = IPv6Network((address, _IPV6_CUSTOMER_PREFIX_BITS), strict=False)
    return str(network)


def _parse_network(name: str) -> Network:
    """Return the network of the trusted proxies with this name, such as `10.0.0.0/8`; an address is a network too.

    Raises:
        ValueError: the name is neither an address nor a network, or the network contains every address.
    """
    try:
        network = ip_network(name)
    except ValueError:
        raise ValueError(
            f"{name!r} is neither an address, nor a network such as 10.0.0.0/8, nor {UNIX_SOCKET_PEERS!r}"
        ) from None

    if network.prefixlen == 0:
        raise ValueError(f"{name!r} contains every address, so that any client could forge its own")
    return network


def _read_forwarded_for(headers: Headers) -> list[str]:
    """Return the entries of `X-Forwarded-For` in their order, or the last ones if there are very many.

    Repeated headers form one list (RFC 9110, section 5.3).
    """
    header_values = [value for name, value in headers if name == _FORWARDED_FOR_HEADER]
    combined_value = b",".join(header_values).decode("latin-1")
    if not combined_value:
        return []

    entries = combined_value.rsplit(",", _MAX_FORWARDED_ENTRIES)
    return [entry.strip() for entry in entries[-_MAX_FORWARDED_ENTRIES:]]


def _read_forwarded_scheme(headers: Headers) -> str | None:
    """Return the scheme in `X-Forwarded-Proto`, or None if it is missing, repeated or neither http nor https."""
    header_values = [value for name, value in headers if name == _FORWARDED_PROTO_HEADER]
    if len(header_values) != 1:
        return None

    scheme = header_values[0].decode("latin-1").strip().lower()
    return scheme if scheme in ("http", "https") else None
