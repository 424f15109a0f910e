"""The saved servers and sessions of the command line, in the configuration folder of the user."""

import os
import tempfile
from pathlib import Path
from typing import Final

import msgspec
import typer

from touchstone.core.json_decoding import decode_json

DEFAULT_URL: Final = "http://127.0.0.1:8000"


class SignIn(msgspec.Struct):
    """A user who has signed in at a server, with the tokens of the session."""

    email: str
    access_token: str
    refresh_token: str | None = None


class SavedSignIns(msgspec.Struct):
    """The configuration file of the user: the server of the last sign-in, and the sign-ins by server."""

    url: str = DEFAULT_URL
    sign_ins: dict[str, SignIn] = {}

    @staticmethod
    def path() -> Path:
        """Return the path of `touchstone/sessions.json` in the user's configuration folder."""
        return Path(typer.get_app_dir("touchstone")) / "sessions.json"

    @classmethod
    def load(cls) -> "SavedSignIns":
        """Return the content of the file, or an object without sign-ins if it is missing or damaged."""
        try:
            return decode_json(cls.path().read_bytes(), cls)
        except (OSError, msgspec.DecodeError):
            return cls()

    def save(self) -> None:
        """Replace the file, which only its owner can read.

        Raises:
            OSError: the file or its folder cannot be written.
        """
        path = self.path()
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)

        # mkstemp creates the file with mode 0600, before the tokens are written.
        file_descriptor, temporary_path = tempfile.mkstemp(dir=path.parent, prefix=".sessions-")
        with os.fdopen(file_descriptor, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(self)))
        Path(temporary_path).replace(path)
