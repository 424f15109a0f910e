"""Profile pictures: whatever arrives is decoded within bounds and written anew, small and without its metadata."""

import asyncio
import hashlib
import io
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from PIL import Image, ImageOps

from touchstone.core.errors import InvalidPicture

MAX_BYTES: Final = 2 * 1024 * 1024
MAX_PIXELS: Final = 25_000_000
SIDE: Final = 512
MEDIA_TYPE: Final = "image/webp"
_FORMATS: Final = ("PNG", "JPEG", "WEBP")
_POOL: Final = ThreadPoolExecutor(1, "picture")


@dataclass(frozen=True, slots=True)
class Picture:
    """A WebP image of at most 512 pixels a side, and its digest."""

    data: bytes
    digest: str


async def reencoded(data: bytes) -> Picture:
    """The picture in our own form, made in a thread.

    Raises:
        InvalidPicture: not a PNG, JPEG or WebP image that can be read, or one of too many pixels.
    """
    return await asyncio.get_running_loop().run_in_executor(_POOL, _reencode, data)


def _reencode(data: bytes) -> Picture:
    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as given:
            # The size is known before a pixel is decoded: a small file may claim a huge image.
            if given.width * given.height > MAX_PIXELS:
                raise InvalidPicture
            given.draft("RGB", (2 * SIDE, 2 * SIDE))
            plain = _without_metadata(given)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning) as problem:
        raise InvalidPicture from problem
    out = io.BytesIO()
    plain.save(out, "WEBP", quality=85)
    return Picture(out.getvalue(), hashlib.sha256(out.getvalue()).hexdigest()[:32])


def _without_metadata(given: Image.Image) -> Image.Image:
    upright = ImageOps.exif_transpose(given).convert("RGBA" if given.has_transparency_data else "RGB")
    upright.thumbnail((SIDE, SIDE))
    plain = Image.new(upright.mode, upright.size)
    plain.paste(upright)
    return plain
