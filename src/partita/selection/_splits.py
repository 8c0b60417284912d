"""Rows to learn from and rows to judge settings by: of one table, of two, or of a trusted sample.

They are drawn at random, the last ones, whole groups, or a table of their own; or both parts are
drawn from a trusted reference, several times. A random split promises too much wherever rows
resemble their neighbours (hours of one day, visits of one patient): a model that has seen the
neighbours knows the answer.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sklearn.model_selection import (
    GroupShuffleSplit,
    ShuffleSplit,
    StratifiedShuffleSplit,
    train_test_split,
)

from .._support import Array, JsonObject
from ..errors import InputError
from ..tables import NUMBER, TEXT, TIME, File, FileTable, column_values, missing_cells, sha256_of
from ..workflow import Task, TrainingTable

SHARE = 0.25  # of the rows, or of the groups, that are held out
SPLITS = 5  # of a trusted sample
JUDGED = 1 / 3  # the share of its rows to judge by
LEAST_ROWS = 30
LEAST_OF_A_LABEL = 3  # so that every part has one
NAMED_LIKE_TIME = re.compile(r"(?<![a-z])(date|time|datetime|timestamp)(?![a-z])")


@dataclass(frozen=True)
class HeldOut:
    """A table in two parts.

    Attributes
    ----------
    training : TrainingTable
        What is tried; a column that rows are grouped by is a feature of it only if it is trusted.
    train, valid : (FileTable, array)
        The rows to learn from and the rows to certify, with their targets.
    about : dict
        How the rows were chosen, for choice.json.
    words : str
        The same for people.
    """

    training: TrainingTable
    train: tuple[FileTable, Array]
    valid: tuple[FileTable, Array]
    about: JsonObject
    words: str

    def warnings(self) -> list[str]:
        """What a reader must know about these rows."""
        found = []
        if self.about["kind"] == "random":
            found += time_order_warnings(self.training.file, self.training.target)
        if self.about["kind"] == "group":
            column = self.about["column"]
            if column not in (*self.training.units_file.trusted, *self.about["ignored_before"]):
                found.append(
                    f"{column!r} is not a feature in this sweep. List it under ignore in "
                    "units.toml, or partita fit takes it for one."
                )
        known, held = (self.training.task.label_counts(y) for _, y in (self.train, self.valid))
        new = [label for label in held if str(label) not in set(map(str, known))]
        if new:
            found.append(
                f"{len(new)} of the labels, {new[0]!r} among them, occur in held-out rows only: "
                "no setting can be right there."
            )
        return found


def hold_out(training: TrainingTable, choices: Mapping[str, object], seed: int) -> list[HeldOut]:
    """Choose the rows to learn from and to judge by: of the table, or of its trusted reference.

    Parameters
    ----------
    training : TrainingTable
        The table.
    choices : mapping
        At most one of these is not None: ``holdout``, a share of the rows, drawn at random with
        each label in both parts, or another table with the same columns (by default a quarter of
        the rows); ``last``, a share of the rows, the last ones in the order of the table;
        ``group``, a column: rows that share its value are never split, and a quarter of the values
        is held out.
    seed : int
        Decides what is drawn.

    Returns
    -------
    list of HeldOut
        One; of a reference several, and nothing is learnt from the table.
    """
    given = [name for name, value in choices.items() if value is not None]
    if training.reference is not None:
        return _reference_parts(training, given, seed)
    if len(given) > 1:
        raise InputError(
            f"{' and '.join(given)} are given, and each says which rows to hold out: choose one"
        )
    holdout, last, group = (choices[name] for name in ("holdout", "last", "group"))
    if isinstance(holdout, str | Path):
        return [_other_table(training, Path(holdout))]
    if isinstance(last, float | int):
        learn, held, about = _last_rows(training, last)
        words = f"the last {_percent(last)} of the rows, in the order of the table"
    elif isinstance(group, str):
        training, learn, held, about = _groups(training, group, seed)
        words = f"all rows of {about['held_groups']} of the {about['groups']} values of {group!r}"
    else:
        share = holdout if isinstance(holdout, float | int) else SHARE
        learn, held = _random_rows(training, share, seed)
        about = {"kind": "random", "share": share}
        words = f"{_percent(share)} of the rows, drawn at random"
    if len(training.task.label_counts(training.y[learn])) == 1:
        raise InputError(
            "the rows to learn from hold one label only: give more rows, or another "
            f"{given[0] if given else 'holdout'}"
        )
    table, y = training.table, training.y
    train, valid = ((table.with_rows(rows), y[rows]) for rows in (learn, held))
    return [HeldOut(training, train, valid, about, words)]


def _reference_parts(training: TrainingTable, given: list[str], seed: int) -> list[HeldOut]:
    """Learn from parts of the trusted reference and judge by the rest of it, several times.

    Rows that are in the training table too are warned of.
    """
    reference = training.reference
    assert reference is not None
    if given:
        raise InputError(
            f"{given[0]} says which rows of the table to hold out, but with reference settings are "
            f"chosen on the reference alone: leave out {given[0]}, or reference"
        )
    reference.partition(training.table.names).check_disjoint(training.table, strict=False)
    splits = reference_splits(reference.y, training.task, seed)
    about = {
        "kind": "reference",
        "name": reference.name,
        "sha256": reference.sha256,
        "rows": len(reference.y),
        "splits": len(splits),
        "share": JUDGED,
    }
    words = (
        f"a third of the {len(reference.y):,} trusted rows of {reference.name} in each of "
        f"{len(splits)} random splits, with the rest of them to learn from; shares are means"
    )
    found = []
    for rows in splits:
        learn, held = (reference.with_rows(part) for part in rows)
        parts = (learn.table, learn.y), (held.table, held.y)
        found.append(HeldOut(replace(training, reference=learn), *parts, about, words))
    return found


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def check_share(name: str, share: float) -> None:
    """Refuse a share of rows that leaves nothing to certify or nothing to learn from."""
    if not 0 < share < 1:
        raise InputError(
            f"{name} is {share}: it must lie between 0 and 1, the share of rows to certify on"
        )


def _random_rows(training: TrainingTable, share: float, seed: int) -> tuple[Array, Array]:
    """Rows drawn at random, with each label in both parts where that is possible."""
    check_share("holdout", share)
    counts = training.task.label_counts(training.y)
    stratify = training.y if counts and min(counts.values()) >= 2 else None
    rows = np.arange(training.table.n_rows)
    try:
        learn, held = train_test_split(rows, test_size=share, random_state=seed, stratify=stratify)
    except ValueError as exc:
        raise InputError(
            f"the table has {len(rows)} rows, too few to hold out {share:g} of them: {exc}"
        ) from exc
    return np.sort(learn), np.sort(held)


def _last_rows(training: TrainingTable, share: float) -> tuple[Array, Array, JsonObject]:
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
    training: TrainingTable, group: str, seed: int
) -> tuple[TrainingTable, Array, Array, JsonObject]:
    """Whole groups; the column that makes them is no feature unless it is trusted."""
    training.file.check_column(group, "group")
    units_file = training.units_file
    if group == training.target:
        raise InputError(
            f"group names the target {group!r}: give a column that says which rows belong together"
        )
    if group not in (*units_file.trusted, *units_file.ignore):
        unit = next(
            (name for name, columns in (units_file.units or {}).items() if group in columns), None
        )
        if unit is not None:
            raise InputError(
                f"group names the column {group!r} of the unit {unit!r}: take it out of the unit, "
                "and list it under ignore (not a feature) or trusted (a feature that all submodels "
                "see)"
            )
        kinds = {name: kind for name, kind in training.table.kinds.items() if name != group}
        training = replace(
            training,
            table=training.file.table(kinds),
            units_file=replace(units_file, ignore=[*units_file.ignore, group]),
        )
    codes = _group_codes(training, group)
    learn, held = next(
        GroupShuffleSplit(1, test_size=SHARE, random_state=seed).split(codes, groups=codes)
    )
    about = {
        "kind": "group",
        "column": group,
        "groups": int(codes.max()) + 1,
        "held_groups": len(np.unique(codes[held])),
        "ignored_before": list(units_file.ignore),
    }
    return training, learn, held, about


def _group_codes(training: TrainingTable, group: str) -> Array:
    """The group of every row, as a number."""
    column = training.file.arrow([group]).column(group)
    missing = missing_cells(column)
    if missing.any():
        raise InputError(
            f"group names the column {group!r}, which has missing values, the first in row "
            f"{int(np.argmax(missing))}: fill them"
        )
    codes = np.asarray(column.combine_chunks().dictionary_encode().indices)
    if codes.max() < 1:
        raise InputError(
            f"group names the column {group!r}, which has one value in all rows: there is no "
            "group to hold out"
        )
    return codes


def _other_table(training: TrainingTable, path: Path) -> HeldOut:
    """Learn from all rows of the table, and certify another table with the same columns."""
    if not path.exists():
        raise InputError(
            f"holdout {str(path)!r} does not exist: give a table, or the share of rows to certify "
            "on, such as 0.25"
        )
    sha256 = sha256_of(path)
    if path.resolve() == training.file.path.resolve() or sha256 == sha256_of(training.file.path):
        raise InputError(
            f"holdout {str(path)!r} is the table to learn from, and a model knows the answers "
            "there: give another table, or a share"
        )
    schema = training.schema
    file = schema.open(path, "holdout", needs_target=True)
    truth = schema.read_finite_target(file, "holdout")
    about = {"kind": "file", "name": path.name, "sha256": sha256, "rows": file.n_rows}
    train, valid = (training.table, training.y), (file.table(schema.kinds), truth)
    return HeldOut(training, train, valid, about, f"the rows of {path.name}")


def reference_splits(y: Array, task: Task, seed: int) -> list[tuple[Array, Array]]:
    """Rows to learn from and to judge by, several times; every label is in both parts."""
    if len(y) < LEAST_ROWS:
        raise InputError(
            f"reference has {len(y)} rows, too few to learn from one part and judge by the other: "
            f"give at least {LEAST_ROWS}"
        )
    counts = task.label_counts(y)
    if len(counts) == 1:
        raise InputError(
            f"reference holds no label but {next(iter(counts))!r}, so no setting can be judged: "
            "give rows of several labels"
        )
    for label, count in counts.items():
        if count < LEAST_OF_A_LABEL:
            rows = "one row" if count == 1 else f"{count} rows"
            raise InputError(
                f"reference has {rows} of the label {label!r}, too few to learn from one part and "
                f"judge by the other: give at least {LEAST_OF_A_LABEL} rows of every label, or none"
            )
    kind = StratifiedShuffleSplit if counts else ShuffleSplit
    splits = kind(SPLITS, test_size=JUDGED, random_state=seed).split(y, y if counts else None)
    return [(np.sort(learn), np.sort(held)) for learn, held in splits]


def time_order_warnings(file: File, target: str) -> list[str]:
    """What to say if a table whose rows were held out at random has a column of times."""
    for name in file.names:
        if name == target:
            continue
        try:
            kind = file.kind(name)
        except InputError:  # an ignored column of a type that is not read
            continue
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()  # saleDate
        is_named_so = NAMED_LIKE_TIME.search(words) is not None
        if kind != TIME and not (is_named_so and _may_be_time(file, name, kind)):
            continue
        if _is_ordered(file, name, kind):
            return [
                f"Rows look ordered in time (by {name!r}), and were held out at random: --last "
                "0.2 tells more about later rows."
            ]
        return [
            f"The column {name!r} looks like a time, and rows were held out at random. If the "
            "model is for later rows, sort the table by time: --last 0.2 then tells more."
        ]
    return []


def _may_be_time(file: File, name: str, kind: str) -> bool:
    """Whether a column that is named like a time may hold one (OverTime is Yes or No)."""
    if kind != TEXT:
        return kind == NUMBER
    column = file.arrow([name]).column(name).slice(0, 100).to_pylist()
    return any(any(character.isdigit() for character in str(value)) for value in column)


def _is_ordered(file: File, name: str, kind: str) -> bool:
    """Whether the column never falls, or never rises, from one row to the next."""
    try:
        values = column_values(file.arrow([name]).column(name), kind, name)
    except InputError:
        return False
    known = np.asarray(
        [value for value in values.tolist() if value == value],
        dtype=None if kind != TEXT else object,
    )
    rises, falls = known[1:] > known[:-1], known[1:] < known[:-1]
    return len(known) > 1 and bool(np.any(rises) != np.any(falls))
