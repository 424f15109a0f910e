"""Profile pictures, which are decoded within limits and encoded anew: small, and without metadata."""

import asyncio
import hashlib
import io
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from PIL import Image, ImageOps

from touchstone.core.errors import InvalidPicture
from touchstone.services.gateway.user_store import PictureRecord

MAX_BYTES: Final = 2 * 1024 * 1024
MAX_PIXELS: Final = 25_000_000
MAX_SIDE: Final = 512
MEDIA_TYPE: Final = "image/webp"
_ACCEPTED_FORMATS: Final = ("PNG", "JPEG", "WEBP")
_THREAD_POOL: Final = ThreadPoolExecutor(1, "picture")


async def reencode_picture(data: bytes) -> PictureRecord:
    """Return an uploaded picture as a small WebP image without metadata, in the form in which it is stored.

    No side has more than `MAX_SIDE` pixels. The work is done in a thread, one picture at a time.

    Raises:
        InvalidPicture: the data is not a readable PNG, JPEG or WebP image, or the image has too many pixels.
    """
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_THREAD_POOL, _reencode, data)


def _reencode(data: bytes) -> PictureRecord:
    """Decode an uploaded picture, reduce it to a thumbnail, and encode the thumbnail as WebP.

    Raises:
        InvalidPicture: the data cannot be decoded, or the image has more than `MAX_PIXELS` pixels.
    """
    try:
        with Image.open(io.BytesIO(data), formats=_ACCEPTED_FORMATS) as image:
            # The size is known before any pixel is decoded. A small file may contain a huge image.
            if image.width * image.height > MAX_PIXELS:
                raise InvalidPicture

            # JPEG can be decoded at a reduced size, which saves most of the time and memory for a large photograph.
            image.draft("RGB", (2 * MAX_SIDE, 2 * MAX_SIDE))
            thumbnail = _plain_thumbnail(image)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning) as problem:
        raise InvalidPicture from problem

    buffer = io.BytesIO()
    thumbnail.save(buffer, "WEBP", quality=85)
    webp = buffer.getvalue()
    digest = hashlib.sha256(webp).hexdigest()[:32]
    return PictureRecord(picture=webp, picture_digest=digest)


def _plain_thumbnail(image: Image.Image) -> Image.Image:
    """Return an upright thumbnail without the metadata of the image, such as the place where it was taken."""
    mode = "RGBA" if image.has_transparency_data else "RGB"
    upright = ImageOps.exif_transpose(image).convert(mode)
    upright.thumbnail((MAX_SIDE, MAX_SIDE))

    # Pixels are pasted into a new image, because Pillow copies metadata along with an image.
    thumbnail = Image.new(upright.mode, upright.size)
    thumbnail.paste(upright)
    return thumbnail
