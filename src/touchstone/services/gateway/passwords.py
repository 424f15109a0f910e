"""Password hashing with Argon2id, and the rules for new passwords."""

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
COMMON_PASSWORDS: Final = frozenset(files(__package__).joinpath("common_passwords.txt").read_text("utf-8").split())
# The second configuration in OWASP's recommendations for Argon2id: 19 MiB, two passes, one lane.
_HASHER: Final = PasswordHash((Argon2Hasher(time_cost=2, memory_cost=19 * 1024, parallelism=1),))
# Verified if an account has no password or does not exist, so that the response takes the same time. No password has
# this hash.
_DUMMY_HASH: Final = f"$argon2id$v=19$m=19456,t=2,p=1${'A' * 22}${'A' * 43}"
# Each hash needs 19 MiB and a processor core, so only two are computed at a time.
_THREAD_POOL: Final = ThreadPoolExecutor(2, "password")


def check_strength(password: str, email: str) -> None:
    """Check that a new password meets the rules.

    Args:
        password: the new password.
        email: the e-mail address of the user, which must not be the password.

    Raises:
        WeakPassword: the password is too short, too long, blank, among the most common ones, or the e-mail address.
    """
    folded_password = password.strip().casefold()
    folded_email = email.strip().casefold()

    has_valid_length = MIN_LENGTH <= len(password) <= MAX_LENGTH
    is_blank = folded_password == ""
    is_guessable = folded_password in COMMON_PASSWORDS or folded_password == folded_email
    if not has_valid_length or is_blank or is_guessable:
        raise WeakPassword


async def hash_password(password: str) -> str:
    """Return the Argon2id hash of a password in the PHC string format."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_THREAD_POOL, _HASHER.hash, _normalize(password))


async def verify_password(password: str, password_hash: str | None) -> bool:
    """Return whether a password has the given hash.

    If there is no hash, the result is False after the same amount of work, so that the response time does not reveal
    whether there is one.
    """
    compared_hash = password_hash or _DUMMY_HASH
    loop = asyncio.get_running_loop()
    is_match = await loop.run_in_executor(_THREAD_POOL, _HASHER.verify, _normalize(password), compared_hash)
    return is_match and password_hash is not None


def _normalize(password: str) -> str:
    """Normalize characters with several encodings (NIST SP 800-63B, section 5.1.1.2)."""
    return unicodedata.normalize("NFKC", password)
