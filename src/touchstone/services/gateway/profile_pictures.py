"""Profile pictures, which are converted to small images without metadata."""

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
    """Convert an uploaded picture to a small WebP image without metadata.

    Both sides have at most `MAX_SIDE` pixels. Pictures are converted one at a time in a thread.

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
            # A small file may contain a huge image, so the size is checked before any pixel is decoded.
            if image.width * image.height > MAX_PIXELS:
                raise InvalidPicture

            # Decoding a JPEG image at a reduced size saves most of the time and memory for large photographs.
            image.draft("RGB", (2 * MAX_SIDE, 2 * MAX_SIDE))
            thumbnail = _create_thumbnail(image)
    except MemoryError:  # the server has too little memory, which is not the fault of the picture
        raise
    except Exception as error:  # malformed pictures make Pillow raise exceptions of nearly any class
        raise InvalidPicture from error

    buffer = io.BytesIO()
    thumbnail.save(buffer, "WEBP", quality=85)
    webp = buffer.getvalue()
    digest = hashlib.sha256(webp).hexdigest()[:32]
    return PictureRecord(picture=webp, picture_digest=digest)


def _create_thumbnail(image: Image.Image) -> Image.Image:
    """Return an upright thumbnail without metadata, such as the location of a photograph."""
    mode = "RGBA" if image.has_transparency_data else "RGB"
    upright = ImageOps.exif_transpose(image).convert(mode)
    upright.thumbnail((MAX_SIDE, MAX_SIDE))

    # Only the pixels are copied to a new image, because Pillow would keep the metadata otherwise.
    thumbnail = Image.new(upright.mode, upright.size)
    thumbnail.paste(upright)
    return thumbnail
