"""The columns of a training table, and how another table is read so that it matches.

Every table that goes with a model (to certify, held out, trusted reference, the training table
again) is opened here: by the kinds that were settled when the model was fitted, never by what its
own cells look like. The target is read here too, in the one form that submodels learn.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support import Array
from ..errors import InputError
from ..tables import BOOLEAN, NUMBER, TEXT, CompletedFile, CsvOptions, File, Split, open_file
from ._tasks import Task

SILENT_ADVICE = (
    "add it; if its source is silent, certify, report and serve take --silent detect (in Python: "
    "silent='detect')"
)


@dataclass(frozen=True)
class Schema:
    """What a table must look like to go with a model.

    Attributes
    ----------
    kinds : dict of str to str
        The features and the kind of each.
    ignore : sequence of str
        Columns that are not features; a table may have them or not.
    target, target_kind : str or None
        The column to predict, and its kind; None if the model does not know them.
    task : Task
        Labels or numbers.
    csv : CsvOptions or None
        How the training table was written, if it was CSV.
    """

    kinds: Mapping[str, str]
    ignore: Sequence[str]
    target: str | None
    target_kind: str | None
    task: Task
    csv: CsvOptions | None = None

    def open(
        self,
        path: Any,
        argument: str = "data",
        split: Split | None = None,
        csv: CsvOptions | None = None,
        needs_target: bool = False,
        may_lack: Collection[str] | None = None,
        unread: Collection[str] = (),
    ) -> File:
        """Open a table with these columns; an error where it has others.

        ``csv``: how it is written, where that is not how the training table was; ``may_lack``:
        columns of silent sources, which are missing values where the table does not have them, or
        None where it is not about predicting; ``unread``: columns that are missing values whatever
        the table holds there.
        """
        as_text = [self.target] if self.target and self.target_kind == TEXT else []
        # a target that is not text is read as it looks, and its kind is compared later
        kinds = dict(self.kinds) | dict.fromkeys([*self.ignore, *as_text, *unread], TEXT)
        if csv is not None and self.csv is not None:
            csv = csv.with_fallback(self.csv.to_dict())
        file = open_file(path, argument, kinds=kinds, split=split, csv=csv or self.csv)
        absent = {
            name: kind
            for name, kind in self.kinds.items()
            if name in unread or (name in (may_lack or ()) and name not in file.names)
        }
        if absent:
            file = CompletedFile(file, absent)
        advice = "add it" if may_lack is None else SILENT_ADVICE
        self._check_names(file, argument, needs_target, advice)
        return file

    def _check_names(self, file: File, argument: str, needs_target: bool, advice: str) -> None:
        needed = [*self.kinds, *([self.target] if needs_target and self.target else [])]
        missing = next((name for name in needed if name not in file.names), None)
        if missing is not None:
            raise InputError(
                f"{argument} {str(file.path)!r} lacks the column {missing!r}, which the training "
                f"table has: {file.advice or advice}"
            )
        known = {*self.kinds, *self.ignore, self.target}
        extra = next((name for name in file.names if name not in known), None)
        if extra is not None:
            raise InputError(
                f"{argument} {str(file.path)!r} has the column {extra!r}, which the training "
                "table does not have: leave it out"
            )

    def read_target(self, file: File, argument: str = "data") -> Array:
        """The target of a table, as submodels learn it; an error where it is of another kind."""
        assert self.target is not None
        found = file.kind(self.target)
        if found != self.target_kind and {found, self.target_kind} != {NUMBER, BOOLEAN}:
            raise InputError(
                f"the target {self.target!r} of {argument} {str(file.path)!r} holds {found}s, but "
                f"that of the training table {self.target_kind}s: give a table with the same "
                "target, or leave it out"
            )
        return self.task.as_learnt(file.target(self.target), found)

    def read_finite_target(self, file: File, argument: str) -> Array:
        """The same, where an infinity would make everything that is measured meaningless."""
        y = self.read_target(file, argument)
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise InputError(
                f"the target {self.target!r} of {argument} {str(file.path)!r} holds an infinity: "
                "leave out that row"
            )
        return y
