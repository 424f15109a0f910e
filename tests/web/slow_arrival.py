"""A proxy that passes pages on piece by piece, as a slow connection or a busy machine does."""

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

import httpx2

PIECE_COUNT: Final = 10
PAUSE_SECONDS: Final = 0.07  # long enough for the browser to show what has arrived
PASSED_REQUEST_HEADERS: Final = ("Accept", "Cookie")
PASSED_RESPONSE_HEADERS: Final = ("Cache-Control", "Content-Security-Policy", "Content-Type", "Location")


@contextmanager
def pages_in_pieces(address: str) -> Iterator[str]:
    """Serve what the product at an address answers to GET, its pages in pieces, and return the address of the proxy."""

    class PieceHandler(BaseHTTPRequestHandler):
        """A handler that passes a request on to the product, and its answer back to the browser."""

        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            passed_headers = {name: self.headers[name] for name in PASSED_REQUEST_HEADERS if name in self.headers}
            answer = httpx2.get(f"{address}{self.path}", headers=passed_headers, timeout=60)
            is_page = answer.headers.get("Content-Type", "").startswith("text/html")
            pieces = split_between_elements(answer.content) if is_page else [answer.content]

            self.send_response(answer.status_code)
            for name in PASSED_RESPONSE_HEADERS:
                if name in answer.headers:
                    self.send_header(name, answer.headers[name])
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()

            for piece in filter(None, pieces):  # an empty chunk would be the end of the response
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                time.sleep(PAUSE_SECONDS if is_page else 0)
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *_: object) -> None:
            """Write no log of the requests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), PieceHandler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def split_between_elements(page: bytes) -> list[bytes]:
    """Split a page before blocks of its content into at most `PIECE_COUNT` pieces with equally many blocks."""
    blocks = re.split(rb"(?=<(?:section|footer|table|form|h2|li|tr|label)\b)", page)
    blocks_per_piece = -(-len(blocks) // PIECE_COUNT)
    starts = range(0, len(blocks), blocks_per_piece)
    return [b"".join(blocks[start : start + blocks_per_piece]) for start in starts]
