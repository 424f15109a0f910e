"""Long JSON responses that are computed while they are sent."""

import asyncio
import time
from collections.abc import AsyncIterator

from starlette.types import Message, Receive

from touchstone.http.admission import Admission
from touchstone.http.responses import JsonStream

SCOPE = {"type": "http", "asgi": {"spec_version": "2.3"}}
CHUNKS = 5
CHUNK_SECONDS = 0.002


async def test_the_computation_of_a_long_response_counts_as_work_of_its_request() -> None:
    """The next request of a lane does not start while the chunks of the first are computed."""
    admission = Admission(limit=8, wait_seconds=1.0)
    ticket = await admission.enter("caller", 0.01)
    has_room_at_chunks: list[bool] = []

    async def chunks() -> AsyncIterator[bytes]:
        for number in range(CHUNKS):
            await asyncio.sleep(0)
            compute(CHUNK_SECONDS)
            has_room_at_chunks.append(admission.has_room(0.01))
            yield b"%d" % number

    sent_messages: list[Message] = []

    async def send(message: Message) -> None:
        sent_messages.append(message)

    await ticket.run(JsonStream(chunks())(SCOPE, stay_connected(), send))

    assert b"".join(message.get("body", b"") for message in sent_messages) == b"01234"
    assert ticket.used_seconds >= CHUNKS * CHUNK_SECONDS
    assert not any(has_room_at_chunks)


def compute(seconds: float) -> None:
    """Keep the processor busy."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


async def test_a_long_response_ends_when_its_client_disconnects() -> None:
    """Nothing more is computed for a client that has gone."""
    has_disconnected = asyncio.Event()
    computed_numbers: list[int] = []

    async def chunks() -> AsyncIterator[bytes]:
        for number in range(1000):
            computed_numbers.append(number)
            await asyncio.sleep(0)
            yield b"x"
            if number == CHUNKS:
                has_disconnected.set()

    async def receive() -> Message:
        await has_disconnected.wait()
        return {"type": "http.disconnect"}

    async def send(_message: Message) -> None:
        await asyncio.sleep(0)

    await JsonStream(chunks())(SCOPE, receive, send)

    assert CHUNKS < len(computed_numbers) <= CHUNKS + 3


def stay_connected() -> Receive:
    """Return the `receive` function of a client that stays connected and sends nothing more."""

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    return receive
