"""What is said on stderr while data are fetched, and why a source was no use."""

import sys
import time

EVERY_S = 2.0


class SourceError(Exception):
    """A source has no usable data: the reason, in a few words. Never leaves this package."""


def say(words: str) -> None:
    print(f"partita: {words}", file=sys.stderr, flush=True)


def reason(exc: BaseException) -> str:
    """An error in one line."""
    said = str(exc).strip().removeprefix("<urlopen error ").removesuffix(">")  # urllib's wrapping
    return (said or type(exc).__name__).splitlines()[0][:200]


class Progress:
    """Says every two seconds how far something is, and stops it when it takes too long or brings
    too much."""

    def __init__(self, what: str, limit: int, seconds: float) -> None:
        self.what, self.limit, self.seconds = what, limit, seconds
        self.began = self.said = time.monotonic()

    def at(self, size: int) -> None:
        now = time.monotonic()
        if size > self.limit:
            raise SourceError(f"more than {self.limit:,} bytes, which cannot be right")
        if now - self.began > self.seconds:
            raise SourceError(f"not done after {self.seconds:g} s")
        if now - self.said >= EVERY_S:
            self.said = now
            say(f"  {self.what}: {size / 1e6:.0f} MB after {now - self.began:.0f} s")
