"""Flash messages: one sentence that confirms the action that the reader has just taken.

The redirect after a form has the key of the message in its query (`?done=created`), so the server stores nothing. The
template of the page decides which keys it shows. The sentences are in `messages` under `done_<key>`.
"""

from enum import StrEnum
from typing import Final

from starlette.requests import Request

FLASH_PARAMETER: Final = "done"


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
    PROVIDER_UNLINKED = "provider"
    FILE_DELETED = "file"
    # Datasets and projects
    CREATED = "created"
    CHANGED = "changed"
    CLAIM_ADDED = "claim"
    CLAIM_PROPOSED = "proposal"
    CLAIM_WITHDRAWN = "withdrawn"
    CLAIM_DECIDED = "decided"
    ACCOUNT_CHANGED = "account"
    DATASET_HIDDEN = "hidden"
    DATASET_SHOWN = "shown"
    PROJECT_SAVED = "project"
    DATASET_CHOSEN = "chosen"
    CHOICE_TAKEN_BACK = "taken-back"
    SNAPSHOT_TAKEN = "snapshot"
    SNAPSHOT_DELETED = "snapshot-deleted"


def flash_message(request: Request) -> FlashMessage | None:
    """Return the flash message in the query of a request, or None if it is missing or unknown."""
    try:
        return FlashMessage(request.query_params.get(FLASH_PARAMETER, ""))
    except ValueError:
        return None
