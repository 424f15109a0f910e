"""Flash messages: one sentence about the action that has just led to a page.

The redirect after a form carries the message's key in its query (`?done=created`), so the server keeps no state. The
page's template decides which keys it shows; the sentences are in `messages` under `done_<key>`.
"""

from enum import StrEnum
from typing import Final

from starlette.requests import Request

PARAMETER: Final = "done"


class FlashMessage(StrEnum):
    """The key of a flash message."""

    # Sign-in page
    EXPIRED = "expired"
    UNSAVED = "unsaved"
    SIGNED_OUT = "signed_out"
    PASSWORD_CHANGED = "password"  # noqa: S105
    PASSWORD_RESET = "reset"  # noqa: S105
    # Account page
    PROFILE_SAVED = "profile"
    PICTURE_SAVED = "picture"
    PICTURE_REMOVED = "no-picture"
    SESSION_ENDED = "session"
    FILE_DELETED = "file"
    # Datasets and projects
    CREATED = "created"
    CHANGED = "changed"
    CLAIM_ADDED = "claim"
    CLAIM_PROPOSED = "proposal"
    CLAIM_WITHDRAWN = "withdrawn"
    CLAIM_DECIDED = "decided"
    CURATOR_CHANGED = "curator"
    DATASET_HIDDEN = "hidden"
    DATASET_SHOWN = "shown"
    PROJECT_SAVED = "project"
    DATASET_CHOSEN = "chosen"
    CHOICE_TAKEN_BACK = "taken-back"
    SNAPSHOT_TAKEN = "snapshot"
    SNAPSHOT_DELETED = "snapshot-deleted"


def flash_message(request: Request) -> FlashMessage | None:
    """Return the message in a request's query, or None if there is none or it is unknown."""
    try:
        return FlashMessage(request.query_params.get(PARAMETER, ""))
    except ValueError:
        return None
