"""Passwords: which are accepted, and how they are hashed without holding anybody else up."""

import asyncio
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from typing import Final

from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from touchstone.core.errors import WeakPassword

MIN_LENGTH: Final = 8
MAX_LENGTH: Final = 1024
# OWASP's second recommended setting for Argon2id: 19 MiB, two passes, one lane.
_HASHER: Final = PasswordHash((Argon2Hasher(time_cost=2, memory_cost=19 * 1024, parallelism=1),))
# Verified against when there is no account: what takes time must take it for everybody. It is no password's hash.
_NOBODY: Final = f"$argon2id$v=19$m=19456,t=2,p=1${'A' * 22}${'A' * 43}"
# Each hash holds 19 MiB and a core: two at a time, the others wait in line.
_POOL: Final = ThreadPoolExecutor(2, "password")
COMMON: Final = frozenset(files(__package__).joinpath("common_passwords.txt").read_text("utf-8").split())


def check_strength(password: str, email: str) -> None:
    """Accept a new password.

    Raises:
        WeakPassword: too short, too long, one of the most common ones, or the address itself.
    """
    plain = password.strip().casefold()
    is_long_enough = MIN_LENGTH <= len(password) <= MAX_LENGTH and len(plain) > 0
    if not is_long_enough or plain in COMMON or plain == email.strip().casefold():
        raise WeakPassword


async def hashed(password: str) -> str:
    """The Argon2id hash of a password, in its usual text form."""
    return await asyncio.get_running_loop().run_in_executor(_POOL, _HASHER.hash, _normal(password))


async def matches(password: str, known_hash: str | None) -> bool:
    """Whether the password is the one hashed; always no, in the same time, when there is no hash."""
    verify = asyncio.get_running_loop().run_in_executor(_POOL, _HASHER.verify, _normal(password), known_hash or _NOBODY)
    return await verify and known_hash is not None


def _normal(password: str) -> str:
    # Two keyboards may send one letter as different code points (NIST SP 800-63B, section 5.1.1.2).
    return unicodedata.normalize("NFKC", password)
