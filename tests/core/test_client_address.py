"""The client's address is the peer's, unless a trusted proxy forwarded another one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
import structlog
from starlette.types import Receive, Scope, Send

from touchstone.core.client_address import TrustedProxies, address_block, parse_address
from touchstone.core.settings import Settings, SettingsError
from touchstone.http.middleware import EdgeMiddleware, client_address

PROXIES = TrustedProxies.parse(["10.0.0.0/8", "2001:db8:ffff::/48", "192.0.2.10"])


def forwarded(*lines: str) -> list[tuple[bytes, bytes]]:
    """Headers with these lines of `X-Forwarded-For`."""
    return [(b"x-forwarded-for", line.encode("latin-1")) for line in lines]


@pytest.mark.parametrize(
    ("peer", "lines", "client"),
    [
        # Whoever is not a trusted proxy is the client, whatever it claims.
        ("198.51.100.7", ["203.0.113.1"], "198.51.100.7"),
        ("192.0.2.11", ["203.0.113.1"], "192.0.2.11"),
        ("2001:db8::1", ["203.0.113.1"], "2001:db8::1"),
        (None, ["203.0.113.1"], None),
        # The rightmost address that is not a trusted proxy; what stands before it was written by the client.
        ("10.1.2.3", ["203.0.113.1"], "203.0.113.1"),
        ("10.1.2.3", ["127.0.0.1, 203.0.113.1"], "203.0.113.1"),
        ("10.1.2.3", ["10.9.9.9, 203.0.113.1"], "203.0.113.1"),
        ("10.1.2.3", ["198.51.100.1, 203.0.113.1, 10.0.0.2,192.0.2.10"], "203.0.113.1"),
        ("10.1.2.3", ["127.0.0.1", "203.0.113.1"], "203.0.113.1"),
        ("10.1.2.3", ["203.0.113.1", "10.0.0.2"], "203.0.113.1"),
        ("10.1.2.3", [", ".join(f"198.51.100.{n % 250}" for n in range(5000)) + ", 203.0.113.1"], "203.0.113.1"),
        # Nothing is forwarded, or proxies only.
        ("10.1.2.3", [], "10.1.2.3"),
        ("10.1.2.3", ["10.0.0.1, 10.0.0.2"], "10.0.0.1"),
        # Ports, IPv6, and IPv4 written as IPv6.
        ("10.1.2.3", ["203.0.113.1:5678"], "203.0.113.1"),
        ("10.1.2.3", ["2001:db8::7"], "2001:db8::7"),
        ("10.1.2.3", ["2001:0DB8:0::7"], "2001:db8::7"),
        ("10.1.2.3", ["[2001:db8::7]"], "2001:db8::7"),
        ("10.1.2.3", ["[2001:db8::7]:443"], "2001:db8::7"),
        ("10.1.2.3", ["::ffff:203.0.113.1"], "203.0.113.1"),
        ("2001:db8:ffff::1", ["2001:db8::7"], "2001:db8::7"),
        ("::ffff:10.1.2.3", ["203.0.113.1"], "203.0.113.1"),
        ("10.1.2.3", ["203.0.113.1, ::ffff:10.0.0.9"], "203.0.113.1"),
        # What is no address ends the search at the proxy that sent it.
        *(
            ("10.1.2.3", [f"198.51.100.1, {bad}"], "10.1.2.3")
            for bad in (
                "unknown",
                "",
                "_hidden",
                "203.0.113.256",
                "203.0.113.1:x",
                "203.0.113.1:123456",
                "203.0.113.01",
                "[203.0.113.1]",
                "[2001:db8::7",
                "[2001:db8::7]x",
                "2001:db8::7]:80",
                "1",
                "é",
                "2001:db8::" + "7" * 200,
                '"203.0.113.1"',
                "for=203.0.113.1",
            )
        ),
        ("10.1.2.3", ["198.51.100.1, unknown, 10.0.0.2"], "10.0.0.2"),
    ],
)
def test_the_client_is_the_rightmost_address_that_is_not_trusted(
    peer: str | None, lines: list[str], client: str | None
) -> None:
    """The peer's address counts, unless a trusted proxy forwarded another."""
    assert PROXIES.client_address(peer, forwarded(*lines)) == client


def test_a_socket_is_trusted_by_its_own_name_only() -> None:
    """A unix socket has no address: `unix` stands for its peers."""
    sockets = TrustedProxies.parse(["unix"])
    assert sockets.client_address(None, forwarded("203.0.113.1")) == "203.0.113.1"
    assert sockets.client_address(None, forwarded("nonsense")) is None
    assert sockets.client_address("10.1.2.3", forwarded("203.0.113.1")) == "10.1.2.3"


def test_one_spelling_for_each_client() -> None:
    """Spellings of one address are one address, and a /64 network of IPv6 counts as one client."""
    spellings = ("2001:db8:0:1::1", "2001:DB8:0:1::1", "[2001:db8:0:1::1]:80", "2001:db8:0:1::1%eth0")
    assert {str(parse_address(spelling)) for spelling in spellings} == {"2001:db8:0:1::1"}
    assert address_block("2001:db8:0:1::1") == address_block("2001:db8:0:1:ffff::2") == "2001:db8:0:1::/64"
    assert address_block("2001:db8:0:2::1") != address_block("2001:db8:0:1::1")
    assert address_block("::1") == "::/64"
    assert address_block("::ffff:192.0.2.1") == address_block("192.0.2.1") == "192.0.2.1"
    assert address_block("192.0.2.2") != address_block("192.0.2.1")
    assert address_block("local") == "local"


@pytest.mark.parametrize("name", ["proxy.example.org", "10.0.0.1/8", "0.0.0.0/0", "::/0", "*", "10.0.0.0/40"])
def test_names_that_are_no_proxies_stop_the_start(name: str) -> None:
    """Neither a host name nor a network with host bits nor everybody can be trusted."""
    with pytest.raises(SettingsError, match=r"^TOUCHSTONE_TRUSTED_PROXIES: ") as refused:
        Settings.load({"TOUCHSTONE_TRUSTED_PROXIES": f"127.0.0.1, {name}"})
    assert repr(name) in str(refused.value)


def test_a_network_of_one_customer_is_one_caller() -> None:
    """Changing the address within a /64 network gives nobody a further share."""
    callers = {client_address({"client": (f"2001:db8:0:1::{number}", 1)}) for number in range(1, 9)}
    assert len(callers) == 1
    assert client_address({"client": ("2001:db8:0:2::1", 1)}) not in callers
    assert client_address({"client": None}) is None


class Witness:
    """An application that keeps the scope of its last request."""

    scope: Scope

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


async def witnessed(tmp_path: Path, proxies: str, headers: Mapping[str, str]) -> tuple[Scope, dict[str, Any]]:
    """The scope that reaches an application behind the edge, and the line of the access log."""
    settings = Settings.load({"TOUCHSTONE_DATA_DIR": str(tmp_path), "TOUCHSTONE_TRUSTED_PROXIES": proxies})
    witness = Witness()
    with structlog.testing.capture_logs() as lines:
        transport = httpx2.ASGITransport(EdgeMiddleware(witness, settings), client=("10.1.2.3", 4567))
        async with httpx2.AsyncClient(transport=transport, base_url="http://test") as http:
            await http.get("/", headers=headers)
    (line,) = (dict(line) for line in lines if line["event"] == "request")
    return witness.scope, line


async def test_applications_and_the_log_see_the_client(tmp_path: Path) -> None:
    """Behind a trusted proxy the client's address and scheme stand in the scope, and its address in the log."""
    claims = {"X-Forwarded-For": "127.0.0.1, 203.0.113.1", "X-Forwarded-Proto": "https"}
    scope, line = await witnessed(tmp_path, "10.0.0.0/8", claims)
    assert (scope["client"], scope["scheme"], line["client"]) == (("203.0.113.1", 0), "https", "203.0.113.1")
    for proxies in ("", "10.9.9.9, unix"):
        scope, line = await witnessed(tmp_path, proxies, claims)
        assert (scope["client"], scope["scheme"], line["client"]) == (("10.1.2.3", 4567), "http", "10.1.2.3")


@pytest.mark.parametrize("proto", ["", "wss", "https, http", "https\x01", "javascript"])
async def test_a_scheme_that_is_none_is_ignored(tmp_path: Path, proto: str) -> None:
    """Only a single `http` or `https` is taken from a proxy."""
    scope, _ = await witnessed(tmp_path, "10.0.0.0/8", {"X-Forwarded-Proto": proto})
    assert (scope["client"], scope["scheme"]) == (("10.1.2.3", 4567), "http")
