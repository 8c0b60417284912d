"""A stored model in the making: its submodels come one by one, perhaps from several machines, and
whatever is there survives.

Each submodel is a file in the model's folder, written whole, and then a note of its hash, in
``unfinished/``, beside the plan of the fit. What has a note and the right hash is finished;
anything else is fitted again. The manifest comes last: until then the folder holds no model, or
still the one that was there before."""

import hashlib
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .._support.atomic import write_whole
from ..ensemble._failures import FixedVote
from ..errors import InputError, StoreError
from ._manifest import MANIFEST
from ._store import (
    ESTIMATOR,
    UNFINISHED,
    check_place,
    manifest_of,
    packed,
    submodel_name,
    sweep_out,
)

PLAN = "plan.json"
PATIENCE = 60  # seconds; network folders may remember for so long that a file was not there


@dataclass(frozen=True)
class Kept:
    """A submodel that is stored."""

    t: int
    name: str
    sha256: str
    bytes: int
    failure: str | None = None  # why it casts a fixed vote, if it does


class Unfinished:
    """The folder of a model whose submodels are being fitted.

    Parameters
    ----------
    folder : where the model goes
    """

    def __init__(self, folder: Any) -> None:
        if Path(folder).suffix == ".zip":
            raise InputError(
                f"out {str(folder)!r} is a zip, to which submodels cannot be added one by one: "
                "give a folder"
            )
        self.folder = check_place(folder).absolute()
        self._notes = self.folder / UNFINISHED

    def begin(self, plan: dict[str, Any]) -> None:
        """Begin, or go on with what was begun; an error where that was another fit. ``plan``: all
        that the submodels depend on."""
        plan = json.loads(json.dumps(plan))
        place = self._notes / PLAN
        if place.is_file():
            try:
                before = json.loads(place.read_bytes())
            except ValueError:
                before = {}
            other = next(
                (key for key in sorted({*before, *plan}) if before.get(key) != plan.get(key)), None
            )
            if other is not None:
                raise InputError(
                    f"out {str(self.folder)!r} holds the beginning of another fit (its {other} "
                    "differ): choose another place, or delete "
                    f"{str(self._notes)!r} to give that one up"
                )
            return
        self._written(lambda: write_whole(place, json.dumps(plan, indent=1).encode()), "the plan")

    def kept(self, t: int) -> Kept | None:
        """Submodel t, if it is stored whole."""
        try:
            kept = Kept(**json.loads(self._note(t).read_bytes()))
            content = (self.folder / kept.name).read_bytes()
        except (OSError, ValueError, TypeError):
            return None
        same = (
            hashlib.sha256(content).hexdigest() == kept.sha256
            and len(content) == kept.bytes
            and kept.t == t
        )
        return kept if same else None

    def keep(self, t: int, submodel: Any) -> Kept:
        """Store submodel t: first the file, then the note that says it is whole."""
        name, facts, content = packed(submodel_name(t), submodel)
        kept = Kept(
            t, name, **facts, failure=submodel.cause if isinstance(submodel, FixedVote) else None
        )
        self._written(lambda: write_whole(self.folder / name, content), f"submodel {t}")
        self._written(
            lambda: write_whole(self._note(t), json.dumps(asdict(kept)).encode()), f"submodel {t}"
        )
        return kept

    def wait_for(self, kept: Kept) -> None:
        """See for oneself that a submodel is stored: another machine's file may take a while to be
        seen on this one."""
        end = time.monotonic() + PATIENCE
        while self.kept(kept.t) != kept:
            if time.monotonic() > end:
                raise StoreError(
                    f"submodel {kept.t} is fitted, but not in {str(self.folder)!r}: all workers "
                    "must see this folder under the same path"
                )
            time.sleep(0.2)

    def finish(self, model: Any, submodels: list[Kept], about: dict[str, Any]) -> Path:
        """Make a model of the submodels that are kept: the manifest replaces that of an earlier
        model in one step."""
        files = {kept.name: {"sha256": kept.sha256, "bytes": kept.bytes} for kept in submodels}
        if model.estimator is not None:
            name, facts, content = packed(ESTIMATOR, model.estimator)
            files[name] = facts
            self._written(lambda: write_whole(self.folder / name, content), "the estimator")
        manifest = manifest_of(model, files, about)
        self._written(lambda: write_whole(self.folder / MANIFEST, manifest), "the manifest")
        sweep_out(self.folder, set(files))
        return self.folder

    def _note(self, t: int) -> Path:
        return self._notes / f"{submodel_name(t)}.json"

    def _written(self, write: Any, what: str) -> None:
        try:
            write()
        except OSError as exc:
            raise StoreError(
                f"{what} cannot be written to {str(self.folder)!r} ({exc.strerror or exc}): what "
                "is finished is kept, so make room and run "
                "the same again"
            ) from exc
