"""The memory of a process as Linux reports it: its private memory, and the files that it has mapped."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_SAMPLE_SECONDS: Final = 0.02
_KIBIBYTE: Final = 1024
_MAPPING: Final = re.compile(r"^(?P<begin>[0-9a-f]+)-(?P<end>[0-9a-f]+) \S+ \S+ \S+ \S+ +(?P<path>/.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of a process at rest, in bytes.

    Attributes:
        private: anonymous memory, which no other process can share.
        mapped: the total size of mapped files in its data folder, whether or not their pages are in memory.
        proportional: the proportional set size: private memory, plus a share of the pages used by several processes.
    """

    private: int
    mapped: int
    proportional: int


def measure_memory(pid: int, data_dir: Path) -> Memory:
    """Return the memory use of a process. `data_dir` is the folder of its mapped files."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return Memory(
        private=_bytes_of(rollup, "Anonymous"),
        mapped=_mapped_bytes(pid, data_dir),
        proportional=_bytes_of(rollup, "Pss"),
    )


def peak_resident_bytes(pid: int) -> int:
    """Return the peak resident memory of a process, including pages of mapped files."""
    return _bytes_of(Path(f"/proc/{pid}/status").read_text(), "VmHWM")


class PeakSampler:
    """Reads the private memory of a process at short intervals, and remembers the largest amount.

    Attributes:
        peak: the largest amount so far, in bytes.
    """

    def __init__(self, pid: int) -> None:
        self.peak = 0
        self._status_file = Path(f"/proc/{pid}/status")
        self._is_stopped = threading.Event()

    def run(self) -> None:
        """Sample until the sampler is stopped."""
        while not self._is_stopped.wait(_SAMPLE_SECONDS):
            self.peak = max(self.peak, _bytes_of(self._status_file.read_text(), "RssAnon"))

    def stop(self) -> None:
        """Let `run` return."""
        self._is_stopped.set()


@contextmanager
def sampled_peak(pid: int) -> Iterator[PeakSampler]:
    """Sample the private memory of a process in a thread until the end of the block."""
    sampler = PeakSampler(pid)
    thread = threading.Thread(target=sampler.run)
    thread.start()
    try:
        yield sampler
    finally:
        sampler.stop()
        thread.join()


def _bytes_of(report: str, member: str) -> int:
    """Return a value from a file such as `/proc/PID/status` in bytes. A line looks like `Pss:  12 kB`."""
    match = re.search(rf"^{member}:\s+(\d+) kB$", report, re.MULTILINE)
    assert match is not None, member
    return int(match[1]) * _KIBIBYTE


def _mapped_bytes(pid: int, data_dir: Path) -> int:
    """Return the total size of the files in a folder that a process has mapped, including deleted files."""
    mapped_bytes = 0
    mappings = Path(f"/proc/{pid}/maps").read_text()
    for mapping in _MAPPING.finditer(mappings):
        if mapping["path"].startswith(str(data_dir)):
            begin_address = int(mapping["begin"], 16)
            end_address = int(mapping["end"], 16)
            mapped_bytes += end_address - begin_address
    return mapped_bytes
