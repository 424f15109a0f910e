"""Ending worker processes together with their parent, so that none is left when a service dies."""

import ctypes
import os
import select
import signal
import socket
import sys
import threading
from typing import Final

_PR_SET_PDEATHSIG: Final = 1  # from <linux/prctl.h>


def die_with_parent() -> None:
    """Make the kernel kill this process when its parent ends for any reason (Linux only, see prctl(2))."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def kill_group_when_parent_closes(sock: socket.socket) -> None:
    """Start a thread that kills this process and its children when the parent closes the socket."""

    def wait_and_kill() -> None:
        """Wait for the end of the connection, then kill the process group of this process."""
        # With an empty event mask, `poll` only reports the end of the connection and ignores messages.
        connection_end = select.poll()
        connection_end.register(sock, 0)
        connection_end.poll()

        own_process_group = 0
        os.killpg(own_process_group, signal.SIGKILL)

    threading.Thread(target=wait_and_kill, daemon=True).start()
