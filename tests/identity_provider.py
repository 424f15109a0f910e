"""An OpenID Connect provider on a loopback port, which can misbehave."""

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, unquote_plus, urlencode, urlsplit

import httpx2
from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT_ID = "touchstone at the provider"
CLIENT_SECRET = "a secret: with/characters&to encode"
ADA: Mapping[str, Any] = {
    "sub": "248289761001",
    "email": "ada@example.org",
    "email_verified": True,
    "given_name": "Ada",
    "family_name": "Lovelace",
}


def new_key(key_id: str) -> RSAKey:
    """Return a new private key for signing ID tokens."""
    return RSAKey.generate_key(2048, {"kid": key_id, "use": "sig"}, private=True)


@dataclass(slots=True)
class Misbehaviour:
    """How the provider differs from the specification. Each test sets what it needs.

    Attributes:
        claims: changes of the claims in ID tokens; None removes a claim.
        algorithm: the algorithm in the header of ID tokens; `none` and `HS256` are signed accordingly.
        raw: complete responses by path, as status and body.
        answer: changes of the parameters with which users are sent back; None removes one.
        omits_key_id: whether ID tokens do not name their key.
        expires_in_seconds: the lifetime of ID tokens, which is negative if they have expired already.
    """

    claims: dict[str, Any] = field(default_factory=dict)
    algorithm: str = "RS256"
    raw: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    answer: dict[str, str | None] = field(default_factory=dict)
    omits_key_id: bool = False
    expires_in_seconds: int = 300


@dataclass(slots=True)
class OpenIdProvider:
    """A provider whose user is always signed in, and has agreed to everything.

    Attributes:
        issuer: the address of the provider.
        user: the claims about the user.
        key: the key that signs ID tokens.
        user_info: the claims at the UserInfo endpoint.
        misbehaviour: how the provider misbehaves.
        metadata: changes of the discovery document.
        request_paths: the paths of all requests so far.
        may_respond: whether the provider responds, or lets all requests wait.
    """

    issuer: str
    key: RSAKey
    user: dict[str, Any] = field(default_factory=lambda: dict(ADA))
    user_info: dict[str, Any] = field(default_factory=dict)
    misbehaviour: Misbehaviour = field(default_factory=Misbehaviour)
    metadata: dict[str, Any] = field(default_factory=dict)
    request_paths: list[str] = field(default_factory=list)
    may_respond: threading.Event = field(default_factory=threading.Event)
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.may_respond.set()

    @contextmanager
    def blocked(self) -> Iterator[None]:
        """Let all requests wait until the end of the block."""
        self.may_respond.clear()
        try:
            yield
        finally:
            self.may_respond.set()

    def setting(self, **others: Mapping[str, str]) -> str:
        """Return the value of `TOUCHSTONE_OIDC_PROVIDERS` for this provider, as `company`, and for others by name."""
        return json.dumps({"company": self.options(), **others})

    def options(self, label: str = "Example Company") -> dict[str, str]:
        """Return the options of this provider in the setting."""
        return {"issuer": self.issuer, "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "label": label}

    def discovery_document(self) -> dict[str, Any]:
        """Return the discovery document."""
        endpoints = {f"{name}_endpoint": f"{self.issuer}/{name}" for name in ("authorization", "token", "userinfo")}
        return {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/jwks", **endpoints, **self.metadata}

    def authorize(self, query: Mapping[str, str]) -> str:
        """Return the address to which the user is sent back with a code."""
        assert query["response_type"] == "code"
        assert query["client_id"] == CLIENT_ID
        assert query["code_challenge_method"] == "S256"
        assert "openid" in query["scope"].split()
        code = secrets.token_urlsafe(16)
        self._codes[code] = dict(query)
        answer = {"code": code, "state": query["state"], "session_state": "ignored", **self.misbehaviour.answer}
        parameters = {name: value for name, value in answer.items() if value is not None}
        return f"{query['redirect_uri']}?{urlencode(parameters)}"

    def issue_tokens(self, form: Mapping[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        """Return the status and the body of the response to a code."""
        scheme, _, credentials = authorization.partition(" ")
        client_id, _, client_secret = base64.b64decode(credentials).decode().partition(":")
        if scheme != "Basic":
            client_id, client_secret = form.get("client_id", ""), form.get("client_secret", "")
        if (unquote_plus(client_id), unquote_plus(client_secret)) != (CLIENT_ID, CLIENT_SECRET):
            return 401, {"error": "invalid_client"}

        request = self._codes.pop(form["code"], None)
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if request is None or challenge != request["code_challenge"] or form["redirect_uri"] != request["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        return 200, {"access_token": "opaque", "token_type": "Bearer", "id_token": self.id_token(request["nonce"])}

    def id_token(self, nonce: str) -> str:
        """Return an ID token for a sign-in, as the misbehaviour wants it."""
        now = int(time.time())
        expires_at = now + self.misbehaviour.expires_in_seconds
        claims = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": expires_at, "nonce": nonce, **self.user}
        claims = {name: value for name, value in (claims | self.misbehaviour.claims).items() if value is not None}
        header = {"alg": self.misbehaviour.algorithm}
        if not self.misbehaviour.omits_key_id:
            header["kid"] = str(self.key.kid)

        if self.misbehaviour.algorithm in ("none", "HS256"):
            signed_part = f"{encode_part(header)}.{encode_part(claims)}"
            public_key = self.key.as_pem(private=False)
            signature = hmac.digest(public_key, signed_part.encode(), "sha256") if header["alg"] == "HS256" else b""
            return f"{signed_part}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"
        return jwt.encode(header, claims, self.key, algorithms=[header["alg"]])

    def sign_in(self, url: str) -> str:
        """Send a user's browser to the provider, and return the address to which the provider sends it back."""
        with httpx2.Client(trust_env=False, timeout=30) as browser:
            response = browser.get(url)
        assert response.status_code == 302, response.text
        address: str = response.headers["location"]
        return address


def encode_part(content: Mapping[str, Any]) -> str:
    """Return a part of a token."""
    return base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()


@contextmanager
def identity_provider(key: RSAKey) -> Iterator[OpenIdProvider]:
    """Run a provider in a thread until the end of the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.provider = OpenIdProvider(f"http://127.0.0.1:{server.server_port}", key)  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.provider  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    """Responds to the requests of browsers and of the service."""

    @property
    def provider(self) -> OpenIdProvider:
        """The provider of the server."""
        provider: OpenIdProvider = self.server.provider  # type: ignore[attr-defined]
        return provider

    def do_GET(self) -> None:
        """Respond to a request of any endpoint but the token endpoint."""
        url = urlsplit(self.path)
        if self._misbehaves(url.path):
            return
        if url.path == "/authorization":
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            self._send(302, b"", {"Location": self.provider.authorize(query)})
        elif url.path == "/.well-known/openid-configuration":
            self._send_json(200, self.provider.discovery_document())
        elif url.path == "/jwks":
            unknown_key = {"kty": "AKP", "kid": "a kind of key that nobody knows yet"}
            self._send_json(200, {"keys": [unknown_key, self.provider.key.as_dict(private=False)]})
        elif url.path == "/userinfo":
            assert self.headers["Authorization"] == "Bearer opaque"
            self._send_json(200, self.provider.user_info)
        else:
            self._send_json(404, {"error": "not_found"})

    def do_POST(self) -> None:
        """Respond to a request of the token endpoint."""
        if self._misbehaves(self.path):
            return
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self._send_json(*self.provider.issue_tokens(dict(parse_qsl(body)), self.headers.get("Authorization", "")))

    def _misbehaves(self, path: str) -> bool:
        """Send the response that a test has chosen for a path, and return whether there is one."""
        self.provider.request_paths.append(path)
        self.provider.may_respond.wait(60)
        if path not in self.provider.misbehaviour.raw:
            return False
        self._send(*self.provider.misbehaviour.raw[path], {})
        return True

    def _send_json(self, status: int, content: Any) -> None:
        self._send(status, json.dumps(content).encode(), {"Content-Type": "application/json"})

    def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        try:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:
            pass  # the service has given up

    def log_message(self, *_: object) -> None:
        """Write no access log."""
