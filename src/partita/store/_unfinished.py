"""A stored model that grows: submodels arrive one by one, perhaps from several machines.

Each submodel is a file in the model's folder, written whole, and then a note of its hash in
``unfinished/``, beside the plan of the fit. A submodel with a note of this plan and the right hash
is finished; anything else is fitted again. The manifest comes last: until then the folder holds no
model, or still an earlier one.
"""

import hashlib
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .._support import write_atomic
from ..ensemble import FixedVote
from ..errors import InputError, StoreError
from ._layout import ESTIMATOR, MANIFEST, UNFINISHED, submodel_name
from ._save import check_place, manifest_bytes, remove_leftovers, stored_estimator

PLAN = "plan.json"
PATIENCE = 60  # seconds; a network folder may go on saying for so long that a file is not there


@dataclass(frozen=True)
class StoredSubmodel:
    """A submodel whose file is written."""

    t: int
    name: str
    sha256: str
    bytes: int
    failure: str | None = None  # why it casts a fixed vote, if it does


class UnfinishedModel:
    """The folder of a model whose submodels are being fitted.

    Parameters
    ----------
    folder : str or path
        Where the model goes; all workers must see it under the same path.
    """

    def __init__(self, folder: Any) -> None:
        if Path(folder).suffix == ".zip":
            raise InputError(
                f"out {str(folder)!r} is a zip, to which submodels cannot be added one by one: "
                "give a folder"
            )
        self.folder = check_place(folder).absolute()
        self._notes = self.folder / UNFINISHED
        self._plan: str | None = None  # its hash

    def begin(self, plan: dict[str, Any]) -> None:
        """Begin or resume a fit; an error if the folder holds the beginning of another one.

        ``plan`` is everything that the submodels depend on.
        """
        content = json.dumps(plan, indent=1)
        plan, self._plan = json.loads(content), hashlib.sha256(content.encode()).hexdigest()
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
                    f"out {str(self.folder)!r} holds the beginning of another fit, which differs "
                    f"in {other!r}: choose another place, or delete {str(self._notes)!r} to give "
                    "that one up"
                )
            return
        self._write("the plan", place, content.encode())

    def find(self, t: int) -> StoredSubmodel | None:
        """Submodel t, if its file is complete and was fitted by this plan."""
        try:
            note = json.loads(self._note(t).read_bytes())
            if note.pop("plan") != self._plan:  # a note may outlive its plan
                return None
            stored = StoredSubmodel(**note)
            content = (self.folder / stored.name).read_bytes()
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None
        same = (
            hashlib.sha256(content).hexdigest() == stored.sha256
            and len(content) == stored.bytes
            and stored.t == t
        )
        return stored if same else None

    def add(self, t: int, submodel: Any) -> StoredSubmodel:
        """Store submodel t: first the file, then the note that says it is complete."""
        file = stored_estimator(submodel_name(t), submodel)
        failure = submodel.cause if isinstance(submodel, FixedVote) else None
        stored = StoredSubmodel(t, file.name, **file.facts, failure=failure)
        note = asdict(stored) | {"plan": self._plan}
        self._write(f"submodel {t}", self.folder / file.name, file.content)
        self._write(f"submodel {t}", self._note(t), json.dumps(note).encode())
        return stored

    def wait_for(self, stored: StoredSubmodel) -> None:
        """Wait until a submodel can be read here: another machine's file may take a while."""
        end = time.monotonic() + PATIENCE
        while self.find(stored.t) != stored:
            if time.monotonic() > end:
                raise StoreError(
                    f"submodel {stored.t} is fitted, but not in {str(self.folder)!r}: all workers "
                    "must see this folder under the same path"
                )
            time.sleep(0.2)

    def finish(self, model: Any, submodels: list[StoredSubmodel], about: dict[str, Any]) -> Path:
        """Write the manifest, which replaces that of an earlier model in one step."""
        files = {one.name: {"sha256": one.sha256, "bytes": one.bytes} for one in submodels}
        if model.estimator is not None:
            file = stored_estimator(ESTIMATOR, model.estimator)
            files[file.name] = file.facts
            self._write("the estimator", self.folder / file.name, file.content)
        manifest = manifest_bytes(model, files, about)
        self._write("the manifest", self.folder / MANIFEST, manifest)
        remove_leftovers(self.folder, set(files))
        return self.folder

    def _note(self, t: int) -> Path:
        return self._notes / f"{submodel_name(t)}.json"

    def _write(self, what: str, path: Path, content: bytes) -> None:
        try:
            write_atomic(path, content)
        except OSError as exc:
            raise StoreError(
                f"{what} cannot be written to {str(self.folder)!r} ({exc.strerror or exc}): "
                "finished submodels are safe, so make room and run the same again"
            ) from exc
