"""Files that are installed with the package: scripts, style sheets and images."""

import hashlib
import mimetypes
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from touchstone.core.errors import MethodNotAllowed, NotFound
from touchstone.http.conditional import is_not_modified
from touchstone.http.responses import OCTET_STREAM

_METHODS: Final = frozenset({"GET", "HEAD"})
_TAG_CHARACTERS: Final = 32


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """A file in memory, with its media type and its entity tag."""

    content: bytes
    media_type: str
    etag: str

    @classmethod
    def read(cls, path: Path) -> "PackagedFile":
        """Read a file, and derive the media type from its name and the entity tag from its content."""
        content = path.read_bytes()
        media_type, _encoding = mimetypes.guess_type(path.name)
        digest = hashlib.sha256(content).hexdigest()[:_TAG_CHARACTERS]
        return cls(content, media_type or OCTET_STREAM, etag=f'"{digest}"')


class PackagedFiles:
    """An ASGI application that serves the files of a folder from memory.

    Starlette's `StaticFiles` reads the file in worker threads for every request. If hundreds of clients request a large
    file at the same time, no threads are left for other requests.
    """

    def __init__(self, folder: Path) -> None:
        self._paths = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
        self._files: dict[str, PackagedFile] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the requested file, or status 304 if the client already has its current content.

        Raises:
            NotFound: there is no such file.
            MethodNotAllowed: the method is neither GET nor HEAD.
        """
        if scope["method"] not in _METHODS:
            raise MethodNotAllowed(allowed=sorted(_METHODS))

        mount_path = scope.get("root_path", "")
        file = self._load(scope["path"].removeprefix(mount_path))

        headers = {"ETag": file.etag}
        if is_not_modified(Request(scope), file.etag):
            response = Response(status_code=304, headers=headers)
        else:
            response = Response(file.content, media_type=file.media_type, headers=headers)

        await response(scope, receive, send)

    def _load(self, request_path: str) -> PackagedFile:
        """Return the file at a path relative to the folder, and read it on the first request.

        Only files that were in the folder at startup are served, so a path such as `../settings` is not found.

        Raises:
            NotFound: there is no such file.
        """
        name = str(PurePosixPath(request_path.lstrip("/")))
        if name not in self._paths:
            raise NotFound

        if name not in self._files:
            self._files[name] = PackagedFile.read(self._paths[name])
        return self._files[name]
