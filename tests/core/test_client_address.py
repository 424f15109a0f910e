"""The address of the client is that of the peer, unless a trusted proxy has forwarded another one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
import structlog
from starlette.types import Receive, Scope, Send

from touchstone.core.client_address import TrustedProxies, parse_address, rate_limit_key
from touchstone.core.settings import Settings, SettingsError
from touchstone.http.middleware import EdgeMiddleware, client_address

PROXIES = TrustedProxies.parse(["10.0.0.0/8", "2001:db8:ffff::/48", "192.0.2.10"])


def forwarded_headers(*lines: str) -> list[tuple[bytes, bytes]]:
    """Return headers with one `X-Forwarded-For` for each of these lines."""
    return [(b"x-forwarded-for", line.encode("latin-1")) for line in lines]


@pytest.mark.parametrize(
    ("peer", "lines", "client"),
    [
        # A peer that is not a trusted proxy is the client, whatever its headers claim.
        ("198.51.100.7", ["203.0.113.1"], "198.51.100.7"),
        ("192.0.2.11", ["203.0.113.1"], "192.0.2.11"),
        ("2001:db8::1", ["203.0.113.1"], "2001:db8::1"),
        (None, ["203.0.113.1"], None),
        # The rightmost address that is not a trusted proxy is the client; it could have written the entries before it.
        ("10.1.2.3", ["203.0.113.1"], "203.0.113.1"),
        ("10.1.2.3", ["127.0.0.1, 203.0.113.1"], "203.0.113.1"),
        ("10.1.2.3", ["10.9.9.9, 203.0.113.1"], "203.0.113.1"),
        ("10.1.2.3", ["198.51.100.1, 203.0.113.1, 10.0.0.2,192.0.2.10"], "203.0.113.1"),
        ("10.1.2.3", ["127.0.0.1", "203.0.113.1"], "203.0.113.1"),
        ("10.1.2.3", ["203.0.113.1", "10.0.0.2"], "203.0.113.1"),
        (
            "10.1.2.3",
            [", ".join(f"198.51.100.{number % 250}" for number in range(5000)) + ", 203.0.113.1"],
            "203.0.113.1",
        ),
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
        # An entry that is not an address ends the search at the proxy that sent it.
        *(
            ("10.1.2.3", [f"198.51.100.1, {invalid_entry}"], "10.1.2.3")
            for invalid_entry in (
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
    """The address of the peer counts, unless a trusted proxy has forwarded another one."""
    assert PROXIES.find_client_address(peer, forwarded_headers(*lines)) == client


def test_unix_sockets_are_trusted_only_by_name() -> None:
    """The peers of a unix socket have no address, so the name `unix` stands for them."""
    sockets = TrustedProxies.parse(["unix"])
    assert sockets.find_client_address(None, forwarded_headers("203.0.113.1")) == "203.0.113.1"
    assert sockets.find_client_address(None, forwarded_headers("nonsense")) is None
    assert sockets.find_client_address("10.1.2.3", forwarded_headers("203.0.113.1")) == "10.1.2.3"


def test_one_spelling_for_each_client() -> None:
    """All spellings of an address are the same address, and an IPv6 /64 network counts as one client."""
    spellings = ("2001:db8:0:1::1", "2001:DB8:0:1::1", "[2001:db8:0:1::1]:80", "2001:db8:0:1::1%eth0")
    assert {str(parse_address(spelling)) for spelling in spellings} == {"2001:db8:0:1::1"}
    assert rate_limit_key("2001:db8:0:1::1") == rate_limit_key("2001:db8:0:1:ffff::2") == "2001:db8:0:1::/64"
    assert rate_limit_key("2001:db8:0:2::1") != rate_limit_key("2001:db8:0:1::1")
    assert rate_limit_key("::1") == "::/64"
    assert rate_limit_key("::ffff:192.0.2.1") == rate_limit_key("192.0.2.1") == "192.0.2.1"
    assert rate_limit_key("192.0.2.2") != rate_limit_key("192.0.2.1")
    assert rate_limit_key("local") == "local"


@pytest.mark.parametrize("name", ["proxy.example.org", "10.0.0.1/8", "0.0.0.0/0", "::/0", "*", "10.0.0.0/40"])
def test_invalid_names_of_proxies_stop_the_start(name: str) -> None:
    """A host name, a network with host bits and a network of all addresses are all refused."""
    with pytest.raises(SettingsError, match=r"^TOUCHSTONE_TRUSTED_PROXIES: ") as failure:
        Settings.load({"TOUCHSTONE_TRUSTED_PROXIES": f"127.0.0.1, {name}"})
    assert repr(name) in str(failure.value)


def test_a_network_of_one_customer_is_one_caller() -> None:
    """Nobody gets a larger share by changing the address within a /64 network."""
    callers = {client_address({"client": (f"2001:db8:0:1::{number}", 1)}) for number in range(1, 9)}
    assert len(callers) == 1
    assert client_address({"client": ("2001:db8:0:2::1", 1)}) not in callers
    assert client_address({"client": None}) is None


class ScopeRecorder:
    """An application that keeps the scope of its last request."""

    scope: Scope

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


async def request_through_edge(
    tmp_path: Path, proxies: str, headers: Mapping[str, str]
) -> tuple[Scope, dict[str, Any]]:
    """Send a request; return the scope that the application gets, and the event of the access log."""
    settings = Settings.load({"TOUCHSTONE_DATA_DIR": str(tmp_path), "TOUCHSTONE_TRUSTED_PROXIES": proxies})
    recorder = ScopeRecorder()
    with structlog.testing.capture_logs() as events:
        transport = httpx2.ASGITransport(EdgeMiddleware(recorder, settings), client=("10.1.2.3", 4567))
        async with httpx2.AsyncClient(transport=transport, base_url="http://test") as http:
            await http.get("/", headers=headers)
    (access_event,) = (dict(event) for event in events if event["event"] == "request")
    return recorder.scope, access_event


async def test_applications_and_the_log_see_the_client(tmp_path: Path) -> None:
    """Behind a trusted proxy, the scope has the address and scheme of the client, and the log its address."""
    headers = {"X-Forwarded-For": "127.0.0.1, 203.0.113.1", "X-Forwarded-Proto": "https"}
    scope, access_event = await request_through_edge(tmp_path, "10.0.0.0/8", headers)
    assert (scope["client"], scope["scheme"], access_event["client"]) == (("203.0.113.1", 0), "https", "203.0.113.1")
    for proxies in ("", "10.9.9.9, unix"):
        scope, access_event = await request_through_edge(tmp_path, proxies, headers)
        assert (scope["client"], scope["scheme"], access_event["client"]) == (("10.1.2.3", 4567), "http", "10.1.2.3")


@pytest.mark.parametrize("scheme", ["", "wss", "https, http", "https\x01", "javascript"])
async def test_an_invalid_forwarded_scheme_is_ignored(tmp_path: Path, scheme: str) -> None:
    """A proxy is believed only if it sends a single `http` or `https`."""
    scope, _ = await request_through_edge(tmp_path, "10.0.0.0/8", {"X-Forwarded-Proto": scheme})
    assert (scope["client"], scope["scheme"]) == (("10.1.2.3", 4567), "http")
