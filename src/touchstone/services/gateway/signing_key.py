"""The signing key for access tokens, and the keys derived from it."""

import contextlib
import hmac
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from touchstone.core.settings import MINIMUM_KEY_BYTES, Settings, SettingsError

KEY_FILE: Final = "signing.key"


def load_signing_key(settings: Settings) -> bytes:
    """Return the signing key for access tokens.

    If the settings contain no key, it is read from a file in the data folder, which is created at the first start.

    Raises:
        SettingsError: other users of the machine can read the file, this process cannot, or it is too short.
    """
    if settings.signing_key is not None:
        return settings.signing_key.get_secret_value().encode()

    path = settings.data_dir / KEY_FILE
    if not path.exists():
        _create_key_file(path)
    return _read_key_file(path)


def derive_key(key: bytes, purpose: str) -> bytes:
    """Derive a key for another purpose, so that signatures are not interchangeable."""
    return hmac.digest(key, purpose.encode(), "sha256")


def _create_key_file(path: Path) -> None:
    """Write a random key to a new file that only the current user can read.

    The file is created atomically. If another process creates it first, its file is kept.
    """
    path.parent.mkdir(parents=True, exist_ok=True)

    temporary_path = path.with_name(f".{KEY_FILE}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(MINIMUM_KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())

        # Unlike a rename, a link never replaces a file, so processes that start together use the same key.
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(temporary_path)
    finally:
        temporary_path.unlink()


def _read_key_file(path: Path) -> bytes:
    """Return the key in a file.

    Raises:
        SettingsError: other users of the machine can read the file, this process cannot, or it is too short.
    """
    non_owner_permissions = path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    if non_owner_permissions:
        raise SettingsError(f"{path} can be read by others; run: chmod 600 {path}")

    # A restored file may belong to the user who restored it.
    try:
        key = path.read_bytes()
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from None
    if len(key) < MINIMUM_KEY_BYTES:
        raise SettingsError(f"{path} is shorter than {MINIMUM_KEY_BYTES} bytes; delete it to generate a new one")
    return key
