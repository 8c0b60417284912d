"""Limits on what a download may bring and how long it may take, and why a source is of no use."""

import time

from .._support.messages import one_line
from .._support.progress import SECONDS_BETWEEN_LINES, log


class FetchError(Exception):
    """A source has no usable data: the reason, in a few words. Never leaves this package."""


class FetchLimits:
    """Stop a download that brings too much or takes too long; log every two seconds how far it is.

    A size is not known beforehand, so there is no bar.

    Parameters
    ----------
    what : str
        What is downloaded, for the log.
    most_bytes : int
        More than this cannot be right.
    seconds : float
        How long it may take.
    """

    def __init__(self, what: str, most_bytes: int, seconds: float) -> None:
        self.what, self.most_bytes, self.seconds = what, most_bytes, seconds
        self._started = self._logged_at = time.monotonic()

    def check(self, size: int) -> None:
        """Raise FetchError if this many bytes, now, are beyond the limits."""
        now = time.monotonic()
        if size > self.most_bytes:
            raise FetchError(f"more than the {self.most_bytes:,} bytes expected at most")
        if now - self._started > self.seconds:
            raise FetchError(f"not finished after {self.seconds:g} s")
        if now - self._logged_at >= SECONDS_BETWEEN_LINES:
            self._logged_at = now
            log(f"  {self.what}: {size / 1e6:.0f} MB after {now - self._started:.0f} s")


def reason(exc: BaseException) -> str:
    """Why a source failed, in one line and without urllib's wrapping."""
    return one_line(exc).removeprefix("<urlopen error ").removesuffix(">")
