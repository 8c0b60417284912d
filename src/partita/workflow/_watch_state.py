"""The state file of ``partita watch``: one stream over many calls, with one budget of false alarms.

A state that is lost or replaced would begin a new budget, and one that two calls go on from would
be spent twice. So nothing but a state of this model is read, and a state is only ever replaced by
the call that went on from it.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._support import write_atomic
from ..errors import InputError

ANEW = "restore it, or give another file, with which a new budget of false alarms begins"


@dataclass(frozen=True)
class StateFile:
    """A state file as it was read.

    Attributes
    ----------
    place : Path
        The file, which need not exist.
    model : str
        The digest of the model that is watched.
    content : bytes or None
        What the file holds; None if there is none yet.
    state : Any
        What :meth:`Watcher.state` returned; None if there is none yet.
    """

    place: Path
    model: str
    content: bytes | None
    state: Any

    @classmethod
    def read(cls, place: Path, model: str) -> "StateFile":
        """Read a state of this model; refuse anything else."""
        content, name = _content(place), f"state {str(place)!r}"
        if content is None:
            return cls(place, model, None, None)
        try:
            found = json.loads(content)
        except (ValueError, RecursionError) as exc:
            raise InputError(f"{name} is not valid JSON: {ANEW}") from exc
        if not isinstance(found, dict) or not found.keys() >= {"model", "state"}:
            raise InputError(f"{name} was not written by this version of partita watch: {ANEW}")
        if found["model"] != model:
            raise InputError(f"{name} belongs to another model: {ANEW}")
        if found["state"] is None:
            raise InputError(f"{name} is damaged: {ANEW}")
        return cls(place, model, content, found["state"])

    def write(self, state: Any) -> None:
        """Replace what was read, unless another call has replaced it since."""
        packed = json.dumps({"model": self.model, "state": state}, indent=1, allow_nan=False)
        with _locked(self.place):
            if _content(self.place) != self.content:
                raise InputError(
                    f"state {str(self.place)!r} was changed by another call while this one ran, "
                    "so its rows are not counted: run it again"
                )
            write_atomic(self.place, packed.encode())


def _content(place: Path) -> bytes | None:
    try:
        return place.read_bytes()
    except FileNotFoundError:
        return None


@contextmanager
def _locked(place: Path) -> Iterator[None]:
    """Keep other calls from writing the same state."""
    lock = place.with_name(f".{place.name}.lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    try:
        lock.open("xb").close()
    except FileExistsError as exc:
        raise InputError(
            f"state {str(place)!r} is being written by another call, so the rows of this one are "
            f"not counted: run it again (if no other is running, delete {str(lock)!r} first)"
        ) from exc
    try:
        yield
    finally:
        lock.unlink()
