"""Downloads from public URLs that give up quickly where there is no network."""

import http.client
import threading
import urllib.error
import urllib.request
from concurrent.futures import Future
from typing import IO, Any

from ._fetch_limits import FetchError, FetchLimits, reason

# for the first response, all of a host's addresses together; two silent hosts make 8 s
CONNECT_SECONDS = 4.0
STALL_SECONDS = 20.0  # between two pieces of a download
WHOLE_SECONDS = 900.0
PIECE = 2**20
FAILURES = (OSError, http.client.HTTPException, ValueError)


def download(url: str, most_bytes: int) -> bytes:
    """The content of a URL, in memory; FetchError if it fails, stalls or is too large."""
    content = bytearray()
    try:
        with _open(url) as response:
            limits = FetchLimits(url.rpartition("/")[2], most_bytes, WHOLE_SECONDS)
            # read() would wait for a whole piece, even from a server that trickles
            while piece := response.read1(PIECE):
                content += piece
                limits.check(len(content))
    except FAILURES as exc:
        raise FetchError(reason(exc)) from exc
    return bytes(content)


def _open(url: str) -> Any:
    """urlopen in a thread, with one timeout for all of it.

    urlopen's own timeout is for one address of the host: neither for looking up its name nor for
    trying all of its addresses.
    """
    response: Future[IO[bytes]] = Future()

    def request() -> None:
        try:
            question = urllib.request.Request(url, headers={"User-Agent": "partita"})
            response.set_result(urllib.request.urlopen(question, timeout=STALL_SECONDS))
        except urllib.error.HTTPError as exc:
            exc.close()
            response.set_exception(exc)
        except Exception as exc:  # raised again where it can be caught
            response.set_exception(exc)

    threading.Thread(target=request, daemon=True).start()
    try:
        return response.result(timeout=CONNECT_SECONDS)
    except TimeoutError:
        raise FetchError(f"no response within {CONNECT_SECONDS:g} s") from None
