"""A party's side: its own rows, by key, and what one submodel says about each.

All rows are scored once, when the party starts: an answer is a look-up, and takes as long for one
key as for another. Rows stay here; nothing but ballots is ever returned. A row's ballot depends on
that row alone (theory, section 1).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._support import Array, json_value
from ..ensemble import FittedEnsemble, FixedVote, were_trained_jointly
from ..errors import InputError
from ..partition import Partition
from ..tables import TEXT, File, open_file
from ..workflow import StoredModel, known_kinds
from ._ballot_answers import answer_bytes


@dataclass(frozen=True, eq=False)
class PartyBallots:
    """The ballots of one submodel for a party's rows.

    Attributes
    ----------
    classes : list or None
        The labels in the order of the scores; None for values.
    rows : dict of str to int
        Where the row with each key is.
    ballots : array
        float32 (rows, classes) or float64 (rows,).
    failure : str
        Why the submodel cast a fixed vote in some rows; empty where it did not.
    """

    classes: list[Any] | None
    rows: dict[str, int]
    ballots: Array
    failure: str = ""

    @classmethod
    def of(cls, stored: StoredModel, table: Any, key: str, submodel: str | int | None) -> Self:
        """Score a party's table with one submodel of a stored model."""
        model = stored.model
        t = find_submodel(model, submodel)
        kinds, names = known_kinds(model), list(model.feature_names_in_)
        own = {names[column]: kinds[names[column]] for column in model.columns_of(t)}
        if key in own:
            raise InputError(
                f"key names {key!r}, which the submodel learns from: give a column that only "
                "names rows"
            )
        file = open_file(table, "table", kinds=own | {key: TEXT}, csv=stored.schema.csv)
        for name in (key, *own):
            file.check_column(name, "key" if name == key else "the submodel")
        X = file.table(own).take_all()
        ballots, failure = model.score_submodel(t, X)
        if isinstance(model.estimators_[t], FixedVote):
            failure = model.estimators_[t].cause
        labels = getattr(model, "classes_", None)
        classes = None if labels is None else json_value(np.asarray(labels))
        return cls(classes, _positions(file, key), np.asarray(ballots), failure)

    def answer(self, keys: Sequence[str], identity: str | None = None) -> bytes:
        """The body of an answer: a ballot for each key, null where there is no such row."""
        found = np.array([self.rows.get(key, -1) for key in keys])
        ballots = self.ballots[found]
        ballots[found < 0] = np.nan
        return answer_bytes(self.classes, ballots, identity)


def find_submodel(model: FittedEnsemble, submodel: str | int | None) -> int:
    """The position of a submodel, given by that or by the name of one of its units."""
    if not isinstance(model.partition_, Partition) or were_trained_jointly(model.estimators_):
        raise InputError(
            "the model's submodels share columns or were trained jointly, so that none is one "
            "party's alone: fit a FeaturePartitionClassifier or FeaturePartitionRegressor with "
            "spread=1"
        )
    n_submodels, names = len(model.partition_), list(model.units_.names)
    if submodel is None:
        if n_submodels == 1:
            return 0
        raise InputError(
            f"submodel is missing, and the model has {n_submodels}: give a number from 0 to "
            f"{n_submodels - 1}, or the name of one of its {model.units_.kind}"
        )
    if isinstance(submodel, str) and submodel in names:
        unit = names.index(submodel)
        return next(t for t in range(n_submodels) if unit in model.partition_[t])
    text = str(submodel)
    if text.isdecimal() and int(text) < n_submodels:
        return int(text)
    shown = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
    raise InputError(
        f"submodel is {submodel!r}: give a number from 0 to {n_submodels - 1}, or one of the "
        f"{model.units_.kind} {shown}"
    )


def _positions(file: File, key: str) -> dict[str, int]:
    """Where the row with each key is; an error where a key is missing or stands twice."""
    positions: dict[str, int] = {}
    for i, value in enumerate(file.arrow([key]).column(key).to_pylist()):
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            raise InputError(
                f"row {i} of {str(file.path)!r} has {value!r} as its key: a key must be a text or "
                "a whole number"
            )
        first = positions.setdefault(str(value), i)
        if first != i:
            raise InputError(
                f"rows {first} and {i} of {str(file.path)!r} have the same key {value!r}: keep one"
            )
    return positions
