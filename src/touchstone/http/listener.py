"""The listening socket of a server: TCP or a unix socket."""

import contextlib
import shutil
import socket
import stat
from pathlib import Path
from typing import Final

from touchstone.core.settings import Settings, SettingsError
from touchstone.http.tcp_sockets import UNSENT_BYTES

BACKLOG: Final = 2048
# The kernel drops a connection if its client acknowledges nothing for this time, even after the server has closed it.
UNACKNOWLEDGED_SECONDS: Final = 10
UNIX_PREFIX: Final = "unix:"


def open_listener(settings: Settings) -> socket.socket:
    """Return a socket that listens on the TCP port or the unix socket (`unix:/path`) in the settings.

    Raises:
        SettingsError: the address cannot be used, for example because the port is taken.
    """
    is_unix_socket = settings.host.startswith(UNIX_PREFIX)
    try:
        if is_unix_socket:
            return _listen_unix(Path(settings.host.removeprefix(UNIX_PREFIX)), settings.socket_group)
        return _listen_tcp(settings.host, settings.port)
    except OSError as error:
        if is_unix_socket:
            variables = "TOUCHSTONE_HOST"
            address = settings.host
        else:
            variables = "TOUCHSTONE_HOST, TOUCHSTONE_PORT"
            address = f"{settings.host}:{settings.port}"
        # Python itself refuses a path that is too long, without an error of the operating system.
        reason = error.strerror or str(error)
        raise SettingsError(f"{variables}: cannot listen on {address}: {reason}") from None


def listener_address(listener: socket.socket) -> str:
    """Return the address of a listener as a URL for a browser, or as `unix:` and a path."""
    if listener.family == socket.AF_UNIX:
        return f"unix:{listener.getsockname()}"

    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _listen_tcp(host: str, port: int) -> socket.socket:
    """Return a TCP socket that listens on this address.

    Its options limit the memory of connections to clients that read slowly or have disappeared.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=BACKLOG)

    # Accepted connections inherit these options. Not all operating systems support them.
    options = {"TCP_NOTSENT_LOWAT": UNSENT_BYTES, "TCP_USER_TIMEOUT": UNACKNOWLEDGED_SECONDS * 1000}
    for option_name, value in options.items():
        option = getattr(socket, option_name, None)
        if option is not None:
            listener.setsockopt(socket.IPPROTO_TCP, option, value)

    # Event loops disable Nagle's algorithm only if the protocol of the socket is given. With Nagle's algorithm, a small
    # response in two writes would wait 40 ms for the client's acknowledgement.
    descriptor = listener.detach()
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=descriptor)


def _listen_unix(path: Path, group: str | None) -> socket.socket:
    """Return a unix socket at `path`, which may replace a socket of an earlier process.

    Args:
        path: the path of the socket.
        group: the group whose members may connect, or None if only the user of this process may.

    Raises:
        SettingsError: there is another file at `path`, a process listens on the socket, or the socket cannot be given
            to the group.
        OSError: the socket cannot be created.
    """
    with contextlib.suppress(FileNotFoundError):
        _remove_abandoned_socket(path)

    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        path.chmod(0o600)
        if group is not None:
            _admit_group(path, group)
        listener.listen(BACKLOG)
    except (OSError, SettingsError):
        listener.close()
        raise
    return listener


def _admit_group(path: Path, group: str) -> None:
    """Let the members of a group connect to the socket at `path`.

    Raises:
        SettingsError: there is no such group, or the user of this process is not one of its members.
    """
    try:
        shutil.chown(path, group=group)
    except LookupError:
        raise SettingsError(f"TOUCHSTONE_SOCKET_GROUP: there is no group {group!r}") from None
    except PermissionError:
        reason = "the user who runs the service is not a member"
        raise SettingsError(f"TOUCHSTONE_SOCKET_GROUP: cannot give the socket to {group!r}: {reason}") from None
    path.chmod(0o660)


def _remove_abandoned_socket(path: Path) -> None:
    """Remove the socket of a process that has ended.

    Raises:
        FileNotFoundError: there is nothing at `path`.
        SettingsError: there is another file at `path`, or a process listens on the socket.
    """
    if not stat.S_ISSOCK(path.lstat().st_mode):
        raise SettingsError(f"TOUCHSTONE_HOST: cannot listen on {UNIX_PREFIX}{path}: a file is in the way")

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        # A server that is too busy to accept another connection must not delay this start.
        client.setblocking(False)
        try:
            client.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except BlockingIOError:
            pass
    raise SettingsError(f"TOUCHSTONE_HOST: cannot listen on {UNIX_PREFIX}{path}: it is already in use")
