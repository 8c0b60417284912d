"""Downloads from public addresses that give up quickly where there is no network."""

import http.client
import threading
import urllib.error
import urllib.request
from concurrent.futures import Future
from typing import IO, Any

from ._progress import Progress, SourceError, reason

CONNECT_S = (
    4.0  # for the first answer, all of a host's addresses together; two silent hosts make 8 s
)
STALL_S = 20.0  # between two pieces of a download
WHOLE_S = 900.0
PIECE = 2**20
BROKEN = (OSError, http.client.HTTPException, ValueError)


def download(url: str, limit: int) -> bytes:
    """The content at an address, kept in memory."""
    content = bytearray()
    try:
        with _open(url) as response:
            progress = Progress(url.rpartition("/")[2], limit, WHOLE_S)
            while piece := response.read1(
                PIECE
            ):  # read() would wait for a whole piece, even from a server that trickles
                content += piece
                progress.at(len(content))
    except BROKEN as exc:
        raise SourceError(reason(exc)) from exc
    return bytes(content)


def _open(url: str) -> Any:
    """urlopen in a thread: its timeout is for one address of the host, not for the name's look-up
    nor for all addresses one by one."""
    answer: Future[IO[bytes]] = Future()

    def ask() -> None:
        try:
            request = urllib.request.Request(url, headers={"User-Agent": "partita"})
            answer.set_result(urllib.request.urlopen(request, timeout=STALL_S))
        except urllib.error.HTTPError as exc:
            exc.close()
            answer.set_exception(exc)
        except Exception as exc:  # it is raised again where it can be caught
            answer.set_exception(exc)

    threading.Thread(target=ask, daemon=True).start()
    try:
        return answer.result(timeout=CONNECT_S)
    except TimeoutError:
        raise SourceError(f"no answer within {CONNECT_S:g} s") from None
