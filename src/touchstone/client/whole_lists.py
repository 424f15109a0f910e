"""The rules for reading a whole list that the service returns in parts, without any I/O."""

from typing import Final, Protocol, TypeVar

from touchstone.client.call import Call
from touchstone.client.identity import Identity
from touchstone.client.retries_and_renewals import Steps, send_with_retries

T = TypeVar("T")

MAX_ITEMS_PER_CALL: Final = 1000  # the service refuses a larger `limit`


class ListCall(Protocol[T]):
    """A function that describes the call for a part of a list."""

    def __call__(self, *, skip: int, limit: int) -> Call[list[T]]:
        """Return the call for at most `limit` items after the first `skip` items."""


def read_whole_list(
    list_call: ListCall[T], identity: Identity, *, skip: int = 0, limit: int | None = None
) -> Steps[list[T]]:
    """Return the items of a list after the first `skip` items: at most `limit` of them, or all if it is None.

    Like `send_with_retries`, this generator yields the steps for a client to perform.

    Raises:
        TouchstoneError: the service refused a call or did not respond.
    """
    items: list[T] = []
    while True:
        part_limit = MAX_ITEMS_PER_CALL if limit is None else min(limit - len(items), MAX_ITEMS_PER_CALL)
        part = yield from send_with_retries(list_call(skip=skip + len(items), limit=part_limit), identity)
        items += part
        if len(part) < part_limit or len(items) == limit:
            return items
