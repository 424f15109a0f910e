"""Malformed and malicious requests as bytes, each with a name."""

from collections.abc import Iterator
from typing import Final

HOST: Final = b"Host: touchstone.test\r\n"
UUID: Final = b"11111111-2222-4333-8444-555555555555"

NUMBERS: Final = (
    b"NaN",
    b"Infinity",
    b"-Infinity",
    b"1e400",
    b"-1e400",
    b"1e-400",
    b"9223372036854775808",
    b"-9223372036854775809",
    b"18446744073709551616",
    b"9" * 5000,
    b"0x10",
    b"1_000",
    b"01",
    b"-0",
    b"1.5",
    b"true",
    b'"12"',
    b"null",
    b"[]",
)
TEXTS: Final = (
    b'"\\u0000"',
    b'"\\ud800"',
    b'"\\udfff\\ud800"',
    b'"\xff\xfe"',
    b'"' + b"a" * 300 + b'"',
    b'"%_\\\\"',
    b'"\'; DROP TABLE datasets;--"',
    b'"<img src=x onerror=alert(1)>"',
    b'"../../etc/passwd"',
    b'"\\u202e"',
    b'""',
    b"7",
    b"{}",
    b"[[]]",
    b"true",
)
BODIES: Final = (
    b"",
    b"{",
    b"[",
    b"]",
    b"nul",
    b'{"a":1,}',
    b"{'name': 'x'}",
    b'{"name":"x"}{"name":"y"}',
    b"\xef\xbb\xbf{}",
    b"\x00",
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b'"' + b"a" * 100_000 + b'"',
    b"[1,2",
    b'{"name":"a","name":"b"}',
    b"\xff\xfe{\x00}\x00",
    b"()",
    b"<xml/>",
    b"a=1&b=2",
)
JSON_ROUTES: Final = (
    (b"POST", b"/api/v1/datasets/"),
    (b"POST", b"/api/v1/datasets/search"),
    (b"POST", b"/api/v1/datasets/score"),
    (b"POST", b"/api/v1/datasets/compare"),
    (b"POST", b"/api/v1/datasets/stability"),
    (b"POST", b"/api/v1/projects"),
    (b"PATCH", b"/api/v1/users/me"),
    (b"POST", b"/api/v1/auth/register"),
    (b"POST", b"/api/v1/auth/login"),
    (b"POST", b"/api/v1/auth/refresh"),
    (b"POST", b"/api/v1/ml/train"),
    (b"POST", b"/api/v1/xai/explain"),
)
QUERIES: Final = (
    b"limit=-1",
    b"limit=0",
    b"limit=1001",
    b"limit=1e3",
    b"limit=%D9%A1",
    b"limit=1_0",
    b"limit= 1",
    b"limit=+1",
    b"limit=" + b"9" * 5000,
    b"skip=-1",
    b"skip=9223372036854775808",
    b"page=0",
    b"page=-1",
    b"page=NaN",
    b"page_size=0",
    b"page_size=1001",
    b"page=1&page=2",
    b"sort_by=id;drop table datasets",
    b"sort_by=password_hash",
    b"sort_by=__class__",
    b"sort_by=name%00",
    b"sort_order=sideways",
    b"year_min=NaN",
    b"year_min=1e400",
    b"year_min=99999999999999999999",
    b"ethical_score_min=101",
    b"ethical_score_min=-1",
    b"ethical_score_min=inf",
    b"is_public=maybe",
    b"is_public=2",
    b"split=true&is_split=false",
    b"instances_min=1&instances_number_min=2",
    b"domain=%00",
    b"domain=%ff%fe",
    b"dataset_name=%",
    b"dataset_name=_",
    b"dataset_name=%25%5F",
    b"dataset_name=%ED%A0%80",
    b"dataset_name=" + b"a" * 20_000,
    b"unknown=1",
    b"domian=health",
    b"%00=1",
    b"=1",
    b"&&&&",
    b"a" * 3000 + b"=1",
    b"limit=1;limit=2",
    b"visibility=secret",
    b"file_type=%00",
    b"limit=%",
    b"limit=%zz",
    b"dataset_name=%F0%9F%92%A9",
    b"task=a,b,,c",
    b"task=" + b",".join([b"x"] * 2000),
    b"features_min=abc",
    b"citations_max=--1",
    b"skip=null",
    b"page=true",
)
PATHS: Final = (
    b"/api/v1/datasets/abc",
    b"/api/v1/datasets/-1",
    b"/api/v1/datasets/0",
    b"/api/v1/datasets/99999999999999999999",
    b"/api/v1/datasets/1%2F2",
    b"/api/v1/datasets/%2e%2e",
    b"/api/v1/datasets/..",
    b"/api/v1/datasets/../../users/me",
    b"//api/v1/datasets",
    b"/api//v1/datasets",
    b"/api/v1/datasets//",
    b"/api/v1/datasets/%00",
    b"/api/v1/datasets/%ff",
    b"/api/v1/datasets/1.0",
    b"/api/v1/datasets/1e1",
    b"/api/v1/datasets/%D9%A1",
    b"/api/v1/datasets/ 1",
    b"/api/v1/datasets/urn:uuid:" + UUID,
    b"/api/v1/datasets/{" + UUID + b"}",
    b"/api/v1/projects/" + UUID,
    b"/api/v1/projects/urn:uuid:" + UUID,
    b"/api/v1/projects/%2e%2e%2fusers",
    b"/api/v1/projects/..%2f..%2f",
    b"/api/v1/ml/jobs/" + UUID,
    b"/api/v1/ml/jobs/x/artifacts/../../../etc/passwd",
    b"/api/v1/ml/jobs/" + UUID + b"/artifacts/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    b"/api/v1/xai/jobs/%00/events",
    b"/selection/docs/../../users/me",
    b"/nowhere",
    b"http://evil.test/api/v1/datasets/",
    b"/api/v1/datasets/1;a=b",
    b"/api/v1/DATASETS",
    b"/app/../api/v1/datasets/",
    b"/app/%2e%2e/x",
    b"/app/static/../../x",
    b"/app/static/%2e%2e%2f%2e%2e%2fsettings.py",
    b"/docs/static/../../../x",
    b"*",
    b"/?" + b"a" * 4000,
    b"/api/v1/" + b"a/" * 500,
)
HEADERS: Final = (
    b"X-User-ID: " + UUID,
    b"X_User_ID: " + UUID,
    b"X.User.ID: " + UUID,
    b"x-user-id : " + UUID,
    b"Connection: X-User-ID",
    b"X-User-ID: \xff",
    b"Authorization: Bearer",
    b"Authorization: Bearer ",
    b"Authorization: Basic YTpi",
    b"Authorization: Bearer a.b.c",
    b"Authorization: Bearer \xff",
    b"Authorization: Bearer a\r\nAuthorization: Bearer b",
    b"Authorization: bearer  x",
    b"Authorization: Bearer " + b"a" * 9000,
    b"X-Touchstone-Internal: x",
    b"Accept-Language: en;q=NaN",
    b"Accept-Language: " + b"fr," * 2000,
    b"Accept-Language: \xff\xfe",
    b"If-Match: *",
    b'If-Match: W/"x"',
    b"If-None-Match: \xff",
    b"Content-Length: -1",
    b"Content-Length: abc",
    b"Content-Length: 99999999999999",
    b"Content-Length: 1\r\nContent-Length: 2",
    b"Transfer-Encoding: chunked, chunked",
    b"Transfer-Encoding: gzip",
    b"Range: bytes=0-",
    b"Expect: 100-continue",
    b"Upgrade: websocket\r\nConnection: Upgrade",
    b"Cookie: \xff=\xfe",
    b"X-Request-ID: \x1b[31m",
    b"X-Request-ID: " + b"a" * 500,
    b"Forwarded: for=1.2.3.4",
    b"X-Forwarded-For: 1.2.3.4",
    b"X-HTTP-Method-Override: DELETE",
    b"Host: evil.test",
    b"Origin: null",
    b"\r\n".join(b"X-Junk-%d: 1" % number for number in range(120)),
    b"X-Long: " + b"a" * 40_000,
    b": empty",
    b"No-Colon",
    b"Sp ace: 1",
    b"Content-Type: application/json; charset=utf-7",
)
METHODS: Final = (
    b"TRACE",
    b"CONNECT",
    b"OPTIONS",
    b"PROPFIND",
    b"get",
    b"G\x00T",
    b"A" * 300,
    b"HEAD",
    b"PUT",
    b"DELETE",
    b"PATCH",
)


def request(method: bytes, target: bytes, headers: bytes = b"", body: bytes | None = None) -> bytes:
    """Return the bytes of a request, with a Content-Length if it has a body."""
    body_headers = b"" if body is None else b"Content-Type: application/json\r\nContent-Length: %d\r\n" % len(body)
    head = b"%s %s HTTP/1.1\r\n" % (method, target) + HOST + headers + body_headers + b"Connection: close\r\n\r\n"
    return head + (body or b"")


def corpus(token: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield every request of the corpus with its name; most of them have a valid token."""
    auth = b"Authorization: Bearer " + token + b"\r\n"
    yield from _requests_with_malformed_bodies(auth)
    yield from _requests_with_numbers(auth)
    yield from _requests_with_texts(auth)
    yield from _requests_with_hostile_heads(auth)
    yield from _malformed_messages(auth)


def _requests_with_malformed_bodies(auth: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield every body to every route that expects JSON."""
    for method, route in JSON_ROUTES:
        for index, body in enumerate(BODIES):
            yield f"body {index} to {route.decode()}", request(method, route, auth, body)


def _requests_with_numbers(auth: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield records, weights and filters with every number."""
    for index, number in enumerate(NUMBERS):
        for field in (b"year", b"instances_number", b"missing_values_percentage", b"is_public", b"name"):
            record = b'{"name":"n","description":"d","file_path":"f","file_type":"csv","%s":%s}' % (field, number)
            yield f"number {index} as {field.decode()}", request(b"POST", b"/api/v1/datasets/", auth, record)

        weights = b'{"weights":[{"criterion_name":"year","weight":%s}]}' % number
        yield f"weight {index}", request(b"POST", b"/api/v1/datasets/score", auth, weights)
        filters = b'{"filters":{"year_min":%s}}' % number
        yield f"filter {index}", request(b"POST", b"/api/v1/datasets/score", auth, filters)


def _requests_with_texts(auth: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield every text in each place where a user can enter one."""
    for index, text in enumerate(TEXTS):
        for template, route in (
            (b'{"name":%s,"description":"d","file_path":"f","file_type":"csv"}', b"/api/v1/datasets/"),
            (b'{"name_contains":%s}', b"/api/v1/datasets/search"),
            (b'{"filters":{"domain":%s}}', b"/api/v1/datasets/score"),
            (b'{"weights":[{"criterion_name":%s,"weight":1}]}', b"/api/v1/datasets/score"),
            (b'{"name":%s}', b"/api/v1/projects"),
            (b'{"email":%s,"password":"long enough"}', b"/api/v1/auth/register"),
            (b'{"username":%s,"password":"x"}', b"/api/v1/auth/login"),
        ):
            yield f"text {index} to {route.decode()}", request(b"POST", route, auth, template % text)


def _requests_with_hostile_heads(auth: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield every query, path, header and method, without a body."""
    for query in QUERIES:
        yield f"query {query[:40]!r}", request(b"GET", b"/api/v1/datasets/?" + query, auth)
    for path in PATHS:
        yield f"path {path[:60]!r}", request(b"GET", path, auth)
        yield f"path {path[:60]!r} unsigned", request(b"GET", path)
    for header in HEADERS:
        yield f"header {header[:40]!r}", request(b"GET", b"/api/v1/projects", header + b"\r\n")
        yield f"header {header[:40]!r} signed", request(b"GET", b"/api/v1/datasets/", auth + header + b"\r\n")
    for method in METHODS:
        yield f"method {method[:20]!r}", request(method, b"/api/v1/datasets/", auth)


def _malformed_messages(auth: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield messages that are not valid HTTP/1.1, or whose body is not what the headers say."""
    yield "no version", b"GET /api/v1/datasets/\r\n\r\n"
    yield "http/0.9 junk", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
    yield "bare newline", b"GET /health/live HTTP/1.1\n" + HOST.replace(b"\r\n", b"\n") + b"\n"

    chunked = b"Transfer-Encoding: chunked\r\n"
    yield "length and chunks", request(b"POST", b"/api/v1/projects", auth + chunked, b"0\r\n\r\n")
    form = request(b"POST", b"/api/v1/auth/login", b"", b"username=a&username=b&password=c")
    yield "form twice", form.replace(b"application/json", b"application/x-www-form-urlencoded")
    yield "bad chunk", request(b"POST", b"/api/v1/projects", auth + chunked) + b"zz\r\n"
