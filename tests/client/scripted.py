"""A server that responds with prepared responses and records the requests, for both kinds of client."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import httpx2

from touchstone.client import AsyncTouchstone, Identity, Touchstone

Answer = httpx2.Response | Exception | Callable[[httpx2.Request], httpx2.Response]
KINDS = ("sync", "async")


class Script:
    """A server that responds to each request with the next prepared response."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer(request) if callable(answer) else answer

    @property
    def request_lines(self) -> list[str]:
        """The method and the path of each request."""
        return [f"{request.method} {request.url.path}" for request in self.requests]


class Caller:
    """A way of calling both kinds of client, so that each test covers both."""

    def __init__(self, kind: str, script: Script, **identity: Any) -> None:
        transport = httpx2.MockTransport(script)
        kinds: dict[str, Any] = {"sync": Touchstone, "async": AsyncTouchstone}
        client = kinds[kind]("http://localhost", transport=transport)
        self.client = client.with_identity(Identity(**identity))

    def __call__(self, name: str, *args: Any, **kwargs: Any) -> Any:
        result = getattr(self.client, name)(*args, **kwargs)
        if inspect.isawaitable(result):
            return asyncio.run(await_result(result))
        if inspect.isasyncgen(result):
            return asyncio.run(collect_items(result))
        return list(result) if inspect.isgenerator(result) else result


async def await_result(result: Any) -> Any:
    return await result


async def collect_items(result: Any) -> list[Any]:
    return [item async for item in result]


def ok(value: Any, status: int = 200, **headers: str) -> httpx2.Response:
    """Return a successful response with a JSON body."""
    return httpx2.Response(status, json=value, headers=headers)


def refusal(status: int, code: str, **headers: str) -> httpx2.Response:
    """Return an error response in the format of the service."""
    body = {"detail": "No.", "code": code, "errors": [{"loc": ["body"], "msg": "why", "type": code}]}
    return httpx2.Response(status, json=body, headers=headers)
