"""A process for untrusted input cannot use more memory or time than it may, and cannot write files."""

import subprocess
import sys
from pathlib import Path

MIB = 1024 * 1024
PROGRAM = """
import errno, resource, signal, sys
from touchstone.core.confined_process import ProcessLimits, limit_this_process

limit_this_process(ProcessLimits(memory_bytes=512 * 2**20, cpu_seconds=30, wall_seconds=20.0))
try:
    bytearray(600 * 2**20)
except MemoryError:
    print("no memory")
try:
    with open(sys.argv[1], "wb", buffering=0) as file:
        file.write(b"x")
except OSError as error:
    print(errno.errorcode[error.errno])
for limit in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
    print(resource.getrlimit(limit))
print(signal.alarm(0))
"""


def test_a_confined_process_has_hard_limits(tmp_path: Path) -> None:
    """The soft and the hard limits are equal, so that the process cannot raise them."""
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "file")]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert lines[:2] == ["no memory", "EFBIG"]
    assert lines[2:6] == [str((maximum, maximum)) for maximum in (512 * MIB, 30, 0, 0)]
    assert int(lines[6]) in (20, 21)
