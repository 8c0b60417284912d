"""Rows that a sweep certifies and does not learn from: drawn at random, the last ones, whole
groups, or a table of their own.

A random split promises too much wherever rows resemble their neighbours (hours of one day, visits
of one patient): a model that has seen the neighbours knows the answer."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import GroupShuffleSplit, train_test_split

from .._support.types import Array
from ..errors import InputError
from ..tables._arrow import column_values
from ..tables._kinds import BOOLEAN, NUMBER, TEXT, TIME
from ..tables._open import FileTable, open_file, sha256_of
from ._workflow import LARGEST_WHOLE, Training

SHARE = 0.25  # of the rows, or of the groups
NAMED_LIKE_TIME = re.compile(r"(?<![a-z])(date|time|datetime|timestamp)(?![a-z])")


@dataclass(frozen=True)
class HeldOut:
    """A table in two parts.

    Attributes
    ----------
    training : Training
        What is swept; a column that rows are grouped by is a feature of it only if it is trusted.
    learn, y : table and target to learn from
    table, truth : table and target to certify
    about : dict
        How the rows were chosen, for sweep.json.
    words : str
        The same for people.
    """

    training: Training
    learn: FileTable
    y: Array
    table: FileTable
    truth: Array
    about: dict[str, Any]
    words: str

    def warnings(self) -> list[str]:
        """What a reader must know about these rows."""
        found = []
        if self.about["kind"] == "random":
            found += _time_order(self.training)
        if self.about["kind"] == "group" and self.about["column"] not in self.training.said.trusted:
            column = self.about["column"]
            if column not in self.about["ignored_before"]:
                found.append(
                    f"{column!r} is not a feature in this sweep. List it under ignore in "
                    "units.toml, or partita fit takes it for one."
                )
        if not self.training.of_values:
            known = {str(label) for label in np.unique(self.y).tolist()}
            new = [label for label in np.unique(self.truth).tolist() if str(label) not in known]
            if new:
                found.append(
                    f"{len(new)} of the labels, {new[0]!r} among them, occur in held-out rows "
                    "only: no setting can be right there."
                )
        return found


def hold_out(
    training: Training,
    holdout: float | str | Path | None,
    last: float | None,
    group: str | None,
    seed: int,
) -> HeldOut:
    """Choose the rows to certify; at most one of ``holdout``, ``last`` and ``group`` is given.

    Parameters
    ----------
    training : Training
        The table.
    holdout : float or path, optional
        A share of the rows, drawn at random with each label in both parts, or another table with
        the same columns.
    last : float, optional
        A share of the rows: the last ones, in the order of the table.
    group : str, optional
        A column: rows that share its value are never split. A quarter of the values is held out.
    seed : int
        Decides what is drawn.
    """
    given = [
        name
        for name, value in (("holdout", holdout), ("last", last), ("group", group))
        if value is not None
    ]
    if len(given) > 1:
        raise InputError(
            f"{' and '.join(given)} are given, and each says which rows to hold out: choose one"
        )
    if isinstance(holdout, str | Path):
        return _other_table(training, Path(holdout))
    if last is not None:
        learn, held, about = _last(training, last)
        words = f"the last {_percent(last)} of the rows, in the order of the table"
    elif group is not None:
        training, learn, held, about = _groups(training, group, seed)
        words = f"all rows of {about['held_groups']} of the {about['groups']} values of {group!r}"
    else:
        share = SHARE if holdout is None else holdout
        learn, held = _at_random(training, share, seed)
        about = {"kind": "random", "share": share}
        words = f"{_percent(share)} of the rows, drawn at random"
    if not training.of_values and len(np.unique(training.y[learn])) < 2:
        raise InputError(
            "the rows to learn from hold one label only: give more rows, or another "
            f"{given[0] if given else 'holdout'}"
        )
    table = training.table
    return HeldOut(
        training,
        table.only(learn),
        training.y[learn],
        table.only(held),
        training.y[held],
        about,
        words,
    )


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def check_share(name: str, share: float) -> None:
    if not 0 < share < 1:
        raise InputError(
            f"{name} is {share}: it must lie between 0 and 1, the share of rows to certify on"
        )


def _at_random(training: Training, share: float, seed: int) -> tuple[Array, Array]:
    """Each label in both parts, where that is possible."""
    check_share("holdout", share)
    labels = None if training.of_values else training.y
    if labels is not None and np.unique(labels, return_counts=True)[1].min() < 2:
        labels = None
    rows = np.arange(training.table.n_rows)
    try:
        learn, held = train_test_split(rows, test_size=share, random_state=seed, stratify=labels)
    except ValueError as exc:
        raise InputError(
            f"the table has {len(rows)} rows, too few to hold out {share:g} of them: {exc}"
        ) from exc
    return np.sort(learn), np.sort(held)


def _last(training: Training, share: float) -> tuple[Array, Array, dict[str, Any]]:
    check_share("last", share)
    n_rows = training.table.n_rows
    held = max(1, round(share * n_rows))
    if held >= n_rows:
        raise InputError(
            f"last is {share:g}, which leaves none of the table's {n_rows} rows to learn from: "
            "give a smaller share"
        )
    rows = np.arange(n_rows)
    return rows[:-held], rows[-held:], {"kind": "last", "share": share}


def _groups(
    training: Training, group: str, seed: int
) -> tuple[Training, Array, Array, dict[str, Any]]:
    training.file.check_has(group, "group")
    said = training.said
    if group == training.target:
        raise InputError(
            f"group names the target {group!r}: give a column that says which rows belong together"
        )
    if group not in (*said.trusted, *said.ignore):
        unit = next(
            (name for name, columns in (said.units or {}).items() if group in columns), None
        )
        if unit is not None:
            raise InputError(
                f"group names the column {group!r} of the unit {unit!r}: take it out of the unit, "
                "and list it under ignore (no feature) "
                "or trusted (a feature that all submodels see)"
            )
        kinds = {name: kind for name, kind in training.table.kinds.items() if name != group}
        training = replace(
            training,
            table=training.file.table(kinds),
            said=replace(said, ignore=[*said.ignore, group]),
        )
    column = training.file.arrow([group]).column(group)
    gaps = column.is_null(nan_is_null=True).to_numpy()
    if gaps.any():
        raise InputError(
            f"group names the column {group!r}, which has missing values, the first in row "
            f"{int(np.argmax(gaps))}: fill them"
        )
    codes = np.asarray(column.combine_chunks().dictionary_encode().indices)
    n_groups = int(codes.max()) + 1
    if n_groups < 2:
        raise InputError(
            f"group names the column {group!r}, which has one value in all rows: there is no "
            "group to hold out"
        )
    learn, held = next(
        GroupShuffleSplit(1, test_size=SHARE, random_state=seed).split(codes, groups=codes)
    )
    about = {
        "kind": "group",
        "column": group,
        "groups": n_groups,
        "held_groups": len(np.unique(codes[held])),
        "ignored_before": list(said.ignore),
    }
    return training, learn, held, about


def _other_table(training: Training, path: Path) -> HeldOut:
    """All rows of the table are learnt from, and another table with the same columns is
    certified."""
    if not path.exists():
        raise InputError(
            f"holdout {str(path)!r} does not exist: give a table, or the share of rows to certify "
            "on, such as 0.25"
        )
    content = sha256_of(path)
    if path.resolve() == training.file.path.resolve() or content == sha256_of(training.file.path):
        raise InputError(
            f"holdout {str(path)!r} is the table to learn from, and a model knows the answers "
            "there: give another table, or a share"
        )
    kinds, target, said = training.table.kinds, training.target, training.said
    kind = training.file.kind(target)
    as_read = kinds | dict.fromkeys(said.ignore, TEXT) | ({target: TEXT} if kind == TEXT else {})
    file = open_file(path, "holdout", kinds=as_read, csv=training.csv)
    for name in [*kinds, target]:
        if name not in file.names:
            cure = file.advice or "it must have the columns of the table to learn from"
            raise InputError(f"holdout {str(path)!r} lacks the column {name!r}: {cure}")
    for name in file.names:
        if name not in kinds and name != target and name not in said.ignore:
            raise InputError(
                f"holdout {str(path)!r} has the column {name!r}, which the table to learn from "
                "lacks: leave it out"
            )
    found = file.kind(target)
    if found != kind and {found, kind} != {NUMBER, BOOLEAN}:
        raise InputError(
            f"the target {target!r} of holdout {str(path)!r} holds {found}s, but the table to "
            f"learn from holds {kind}s there"
        )
    truth = file.target(target)
    if training.of_values:
        truth = truth.astype(np.float64)
        if not np.isfinite(truth).all():
            raise InputError(
                f"the target {target!r} of holdout {str(path)!r} holds an infinity: leave out "
                "that row"
            )
    elif truth.dtype.kind == "f" and training.y.dtype.kind in "iu" and _are_whole(truth):
        truth = truth.astype(training.y.dtype)
    about = {"kind": "file", "name": path.name, "sha256": content, "rows": file.n_rows}
    return HeldOut(
        training,
        training.table,
        training.y,
        file.table(kinds),
        truth,
        about,
        f"the rows of {path.name}",
    )


def _are_whole(values: Array) -> bool:
    return bool(np.all((values == np.floor(values)) & (np.abs(values) <= LARGEST_WHOLE)))


def _time_order(training: Training) -> list[str]:
    """Whether the table has a column of times: if its rows are in that order, later rows are what
    matters."""
    for name in training.file.names:
        if name == training.target:
            continue
        try:
            kind = training.file.kind(name)
        except InputError:  # an ignored column of a type that is not read
            continue
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()  # saleDate
        if kind != TIME and not (
            NAMED_LIKE_TIME.search(words) and _may_be_time(training, name, kind)
        ):
            continue
        if _ordered(training, name, kind):
            return [
                f"Rows look ordered in time (by {name!r}), and were held out at random: --last "
                "0.2 tells more about later rows."
            ]
        return [
            f"The column {name!r} looks like a time, and rows were held out at random. If the "
            "model is for later rows, sort the table "
            "by time: --last 0.2 then tells more."
        ]
    return []


def _may_be_time(training: Training, name: str, kind: str) -> bool:
    """Whether a column that is named like a time may hold one: numbers, or texts with digits
    (OverTime is Yes or No)."""
    if kind != TEXT:
        return kind == NUMBER
    column = training.file.arrow([name]).column(name).slice(0, 100).to_pylist()
    return any(any(sign.isdigit() for sign in str(value)) for value in column)


def _ordered(training: Training, name: str, kind: str) -> bool:
    """Whether the column never falls, or never rises, from one row to the next."""
    try:
        values = column_values(training.file.arrow([name]).column(name), kind, name)
    except InputError:
        return False
    known = np.asarray(
        [value for value in values.tolist() if value == value],
        dtype=None if kind != TEXT else object,
    )
    rises, falls = known[1:] > known[:-1], known[1:] < known[:-1]
    return len(known) > 1 and bool(np.any(rises) != np.any(falls))
