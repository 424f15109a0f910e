"""The network address of a client, which may be forwarded by trusted reverse proxies."""

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, Self

from starlette.types import Scope

# The entry for peers of a unix socket, which have no address, in the list of trusted proxies.
UNIX_SOCKET_PEERS: Final = "unix"

_FORWARDED_FOR_HEADER: Final = b"x-forwarded-for"
_FORWARDED_PROTO_HEADER: Final = b"x-forwarded-proto"
_MAX_FORWARDED_ENTRIES: Final = 32
_MAX_ADDRESS_LENGTH: Final = 64  # longer than any valid address with a port
_IPV6_CUSTOMER_PREFIX_BITS: Final = 64  # providers assign at least one network of this size to each customer

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
    """The reverse proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` headers are trusted.

    Attributes:
        networks: the networks of the proxies. A single address is a network with one address.
        is_unix_socket_trusted: whether every peer of a unix socket is a trusted proxy.
    """

    networks: tuple[Network, ...] = ()
    is_unix_socket_trusted: bool = False

    @classmethod
    def parse(cls, entries: Iterable[str]) -> Self:
        """Parse the operator's list of trusted proxies, such as `["192.0.2.10", "10.0.0.0/8", "unix"]`.

        An entry is an address, a network, or `unix`, which trusts every peer of a unix socket.

        Raises:
            ValueError: an entry has another form, or is a network that contains every address.
        """
        networks: list[Network] = []
        is_unix_socket_trusted = False

        for entry in entries:
            if entry == UNIX_SOCKET_PEERS:
                is_unix_socket_trusted = True
            else:
                networks.append(_parse_network(entry))

        return cls(tuple(networks), is_unix_socket_trusted)

    def contains(self, address: Address) -> bool:
        """Return whether the address belongs to a trusted proxy."""
        return any(address in network for network in self.networks)

    def find_client_address(self, peer_address: str | None, headers: Headers) -> str | None:
        """Return the address of the client that sent a request, possibly through trusted proxies.

        If the peer is not a trusted proxy, it is the client. Otherwise, the client is the last address in
        `X-Forwarded-For` that is not a trusted proxy, because each proxy appends the address of its own peer. Earlier
        entries are ignored, because the client may have forged them.

        Args:
            peer_address: the address at the other end of the connection, or None for a unix socket.
            headers: the headers of the request.
        """
        if not self._trusts_peer(peer_address):
            return peer_address

        client_address = peer_address
        for entry in reversed(_read_forwarded_for(headers)):
            address = parse_address(entry)
            if address is None:
                break  # entries before a malformed one cannot be trusted

            client_address = str(address)
            if not self.contains(address):
                break

        return client_address

    def apply_forwarded_headers(self, scope: Scope) -> Scope:
        """Return the ASGI scope with the address and the scheme of the client instead of the proxy.

        The scope is returned unchanged if the request was not sent by a trusted proxy.
        """
        peer = scope.get("client")
        peer_address = peer[0] if peer else None
        if not self._trusts_peer(peer_address):
            return scope

        forwarded_scope = dict(scope)

        client_address = self.find_client_address(peer_address, scope["headers"])
        if client_address != peer_address:
            unknown_port = 0
            forwarded_scope["client"] = (client_address, unknown_port)

        scheme = _read_forwarded_scheme(scope["headers"])
        if scheme is not None:
            forwarded_scope["scheme"] = scheme

        return forwarded_scope

    def _trusts_peer(self, peer_address: str | None) -> bool:
        """Return whether the peer, or None for a unix socket, is a trusted proxy."""
        if peer_address is None:
            return self.is_unix_socket_trusted

        if not self.networks:  # most installations need not parse the address of each request
            return False

        address = parse_address(peer_address)
        return address is not None and self.contains(address)


@functools.lru_cache(maxsize=10_000)
def parse_address(text: str) -> Address | None:
    """Parse an IP address with or without a port, or return None for any other string.

    All forms of an address have the same result, so that one client cannot appear as several. An IPv4 address mapped to
    IPv6 (`::ffff:192.0.2.1`) is returned as IPv4, and an IPv6 address is returned without its zone (`%eth0`).
    """
    if len(text) > _MAX_ADDRESS_LENGTH:
        return None

    match = _ADDRESS_PATTERN.fullmatch(text)
    if match is None:
        return None

    address_text = match["ipv4"] or match["ipv6"] or match["bracketed_ipv6"]
    try:
        address = ip_address(address_text)
    except ValueError:
        return None

    if isinstance(address, IPv4Address):
        return address
    address_without_zone = IPv6Address(int(address))
    return address_without_zone.ipv4_mapped or address_without_zone


@functools.lru_cache(maxsize=10_000)
def rate_limit_key(client_address: str) -> str:
    """Return the key for counting the requests and connections of a client.

    The key is the address for IPv4 and the /64 network for IPv6. Providers assign a whole /64 to each customer, who
    could otherwise use a new address for every request. A string that is not an address is returned unchanged.
    """
    address = parse_address(client_address)
    if address is None:
        return client_address
    if isinstance(address, IPv4Address):
        return str(address)

    network = IPv6Network((address, _IPV6_CUSTOMER_PREFIX_BITS), strict=False)
    return str(network)


def _parse_network(entry: str) -> Network:
    """Parse a network such as `10.0.0.0/8`. A single address becomes a network with one address.

    Raises:
        ValueError: the entry is neither an address nor a network, or the network contains every address.
    """
    try:
        network = ip_network(entry)
    except ValueError:
        raise ValueError(
            f"{entry!r} is neither an address, nor a network such as 10.0.0.0/8, nor {UNIX_SOCKET_PEERS!r}"
        ) from None

    if network.prefixlen == 0:
        raise ValueError(f"{entry!r} contains every address, so that any client could forge its own")
    return network


def _read_forwarded_for(headers: Headers) -> list[str]:
    """Return the entries of `X-Forwarded-For`, the last of which was added by the nearest proxy.

    At most the last `_MAX_FORWARDED_ENTRIES` are returned, so that a long header costs little time.
    """
    # Repeated headers form one list (RFC 9110, section 5.3).
    header_values = [value for name, value in headers if name == _FORWARDED_FOR_HEADER]
    combined_value = b",".join(header_values).decode("latin-1")
    if not combined_value:
        return []

    # If there are more entries, the first part contains all the others unsplit, and is dropped.
    parts = combined_value.rsplit(",", maxsplit=_MAX_FORWARDED_ENTRIES)
    return [part.strip() for part in parts[-_MAX_FORWARDED_ENTRIES:]]


def _read_forwarded_scheme(headers: Headers) -> str | None:
    """Return the scheme in `X-Forwarded-Proto`, or None if it is missing, repeated or invalid."""
    header_values = [value for name, value in headers if name == _FORWARDED_PROTO_HEADER]
    if len(header_values) != 1:
        return None

    scheme = header_values[0].decode("latin-1").strip().lower()
    return scheme if scheme in ("http", "https") else None
