"""Rows to learn from and rows to judge settings by: of one table, of two, or of a trusted sample.

They are drawn at random, the last ones, whole groups, or a table of their own; or both parts are
drawn from a trusted reference, several times. A random split promises too much wherever rows
resemble their neighbours (hours of one day, visits of one patient): a model that has seen the
neighbours knows the answer. ``row_order`` looks for such rows. Where it finds some, settings are
judged by the last rows or by whole groups too, unless the user says which rows to hold out.
"""

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.stats import rankdata
from sklearn.model_selection import (
    GroupShuffleSplit,
    ShuffleSplit,
    StratifiedShuffleSplit,
    train_test_split,
)

from .._support import Array, JsonObject
from ..errors import InputError
from ..tables import BOOLEAN, NUMBER, TEXT, TIME, FileTable, Table, missing_cells, sha256_of
from ..workflow import Task, TrainingTable

SHARE = 0.25  # of the rows, or of the groups, that are held out
SPLITS = 5  # of a trusted sample
JUDGED = 1 / 3  # the share of its rows to judge by
LEAST_ROWS = 30
LEAST_OF_A_LABEL = 3  # so that every part has one
NAMED_LIKE_TIME = re.compile(r"(?<![a-z])(date|time|datetime|timestamp)(?![a-z])")


@dataclass(frozen=True)
class Rows:
    """Positions of the rows to learn from and to judge by; how they were chosen, and in words."""

    learn: Array
    held: Array
    about: JsonObject
    words: str


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
        if self.about["kind"] == "group" and "ignored_before" in self.about:
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


def hold_out(
    training: TrainingTable, choices: Mapping[str, object], seed: int
) -> tuple[dict[str, list[HeldOut]], list[str]]:
    """Choose the rows to learn from and to judge by: of the table, or of its trusted reference.

    Parameters
    ----------
    training : TrainingTable
        The table.
    choices : mapping
        At most one of these is not None: ``holdout``, a share of the rows, drawn at random with
        each label in both parts, or another table with the same columns; ``last``, a share of the
        rows, the last ones in the order of the table; ``group``, a column: rows that share its
        value are never split, and a quarter of the values is held out.
    seed : int
        Decides what is drawn.

    Returns
    -------
    kinds : dict of str to list of HeldOut
        Of each kind one part; of a reference several, and nothing is learnt from the table. Where
        the user chose nothing, a quarter of the rows drawn at random, and what else
        :func:`default_rows` judges by.
    warnings : list of str
        What the table shows of rows that belong together.
    """
    given = [name for name, value in choices.items() if value is not None]
    if training.reference is not None:
        return {"reference": _reference_parts(training, given, seed)}, []
    if len(given) > 1:
        raise InputError(
            f"{' and '.join(given)} are given, and each says which rows to hold out: choose one"
        )
    holdout, last, group = (choices[name] for name in ("holdout", "last", "group"))
    if isinstance(holdout, str | Path):
        return {"file": [_other_table(training, Path(holdout))]}, []
    y, task, told = training.y, training.task, []
    if isinstance(last, float | int):
        found = {"last": _last_rows(np.arange(len(y)), last)}
    elif isinstance(group, str):
        training, rows = _groups(training, group, seed)
        found = {"group": rows}
    elif isinstance(holdout, float | int):
        found = {"random": _random_rows(y, task, holdout, seed)}
    else:
        order = training_order(training)
        found = default_rows(order, y, task, seed)
        told = order.warnings((*training.units_file.trusted, *training.units_file.ignore))
    for rows in found.values():
        if len(task.label_counts(y[rows.learn])) == 1:
            raise InputError(
                "the rows to learn from hold one label only: give more rows, or another "
                f"{given[0] if given else 'holdout'}"
            )
    kinds = {}
    for kind, one in found.items():
        train, valid = ((training.table.with_rows(r), y[r]) for r in (one.learn, one.held))
        kinds[kind] = [HeldOut(training, train, valid, one.about, one.words)]
    return kinds, told


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


def _random_rows(y: Array, task: Task, share: float, seed: int) -> Rows:
    """Rows drawn at random, with each label in both parts where that is possible."""
    check_share("holdout", share)
    counts = task.label_counts(y)
    stratify = y if counts and min(counts.values()) >= 2 else None
    rows = np.arange(len(y))
    try:
        learn, held = train_test_split(rows, test_size=share, random_state=seed, stratify=stratify)
    except ValueError as exc:
        raise InputError(
            f"the table has {len(rows)} rows, too few to hold out {share:g} of them: {exc}"
        ) from exc
    about = {"kind": "random", "share": share}
    return Rows(
        np.sort(learn), np.sort(held), about, f"{_percent(share)} of the rows, drawn at random"
    )


def _last_rows(order: Array, share: float) -> Rows:
    check_share("last", share)
    held = max(1, round(share * len(order)))
    if held >= len(order):
        raise InputError(
            f"last is {share:g}, which leaves none of the table's {len(order)} rows to learn from: "
            "give a smaller share"
        )
    words = f"the last {_percent(share)} of the rows, in the order of the table"
    about = {"kind": "last", "share": share}
    return Rows(np.sort(order[:-held]), np.sort(order[-held:]), about, words)


def _groups(training: TrainingTable, group: str, seed: int) -> tuple[TrainingTable, Rows]:
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
    rows = _group_rows(_group_codes(training, group), group, seed)
    return training, replace(rows, about=rows.about | {"ignored_before": list(units_file.ignore)})


def _group_rows(codes: Array, group: object, seed: int) -> Rows:
    """A quarter of the groups, drawn at random."""
    learn, held = next(
        GroupShuffleSplit(1, test_size=SHARE, random_state=seed).split(codes, groups=codes)
    )
    return _held_groups(codes, group, learn, held)


def _held_groups(codes: Array, group: object, learn: Array, held: Array) -> Rows:
    groups, taken = len(np.unique(codes)), len(np.unique(codes[held]))
    about = {"kind": "group", "column": group, "groups": groups, "held_groups": taken}
    return Rows(learn, held, about, f"all rows of {taken} of the {groups} values of {group!r}")


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


# ---- rows that belong together ----

LOOK_AT_ROWS, BLOCK, LOOK_AT_COLUMNS = 20_000, 1_000, 200
LIKE, SURE, COLUMNS_ALIKE = 0.1, 5, 0.2  # serial correlation, its z score, share of the columns
LEAST_GROUPS, LEAST_SCATTERED, GROUP_OF = 4, 20, 3  # a group has at least so many rows


@dataclass(frozen=True)
class RowOrder:
    """What a table shows of rows that belong together.

    Attributes
    ----------
    rows : array
        All rows; in the order of time where there are times.
    time : str or int, optional
        A column of times.
    looks_like_time : str or int, optional
        A column of numbers or texts that is named like a time, and not in order.
    alike : bool
        Whether neighbours resemble each other more than other rows of the same label do.
    by_target : bool
        Whether rows are sorted by a target of numbers, so that neighbours say nothing.
    group : str or int, optional
        A column that looks as if it groups rows.
    codes : array, optional
        The group of every row.
    in_runs : bool
        Whether the rows of a group lie together, so that the last groups are the last rows too.
    """

    rows: Array
    time: object = None
    looks_like_time: object = None
    alike: bool = False
    by_target: bool = False
    group: object = None
    codes: Array | None = None
    in_runs: bool = False

    def warnings(self, settled: Collection[object] = (), judged: bool = True) -> list[str]:
        """What to do about it, also where no later rows are ``judged``.

        Nothing is said of the ``settled`` columns, which are no sensors.
        """
        found = []
        if not judged and (self.alike or self.time is not None):
            why = "Neighbouring rows resemble each other"
            if self.time is not None:
                why = f"Rows have an order in time (by {self.time!r})"
            found.append(
                f"{why}, so rows held out at random promise too much: partita choose judges by "
                "later rows too."
            )
        if self.looks_like_time is not None:
            found.append(
                f"The column {self.looks_like_time!r} looks like a time. If the model is for later "
                "rows, sort the table by time, or use --last 0.2 on one that is."
            )
        if self.by_target:
            found.append(
                "Rows are sorted by the target, so their order does not tell whether neighbours "
                "were measured together: if they were, sort the table by time."
            )
        if self.group is not None and self.group not in settled:
            found.append(
                f"The column {self.group!r} looks as if it groups rows, and is probably not a "
                "sensor: list it under ignore in units.toml, and judge by whole groups "
                f"(partita choose --group {self.group})."
            )
        return found


def training_order(training: TrainingTable) -> RowOrder:
    """Look at all columns of a training table but the target, ignored ones too."""
    file, kinds = training.file, {}
    for name in file.names:
        with suppress(InputError):  # an ignored column of a type that is not read
            kinds[name] = file.kind(name)
    del kinds[training.target]
    return row_order(file.table(kinds), training.y, training.task, training.units_file.ignore)


def row_order(table: Table, y: Array, task: Task, ignored: Collection[object] = ()) -> RowOrder:
    """Look for rows that belong together, by the columns alone; nothing is fitted.

    Each row is compared with the next one of its label, so a table that is sorted by its labels
    alone shows nothing. A column groups rows if each of its values stands in one place, or if it is
    a mark, whose rows resemble each other. Of many rows, blocks are looked at.
    """
    names: list[object] = list(table.labels or table.kinds or range(table.n_columns))
    kinds = list(table.kinds.values()) if table.kinds else [NUMBER] * len(names)
    found = RowOrder(np.arange(table.n_rows))
    for j, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        if kind in (TIME, None) or (kind != BOOLEAN and _is_named_like_time(name)):
            values = _read(table, j)
            if values is None or (kind in (TEXT, None) and not _has_digits(values)):
                continue
            cells = values.tolist()
            complete = not any(cell is None or cell != cell for cell in cells)
            is_time = kind == TIME or (kind is None and values.dtype.kind == "f")  # of a frame
            if complete and (is_time or _is_monotone(values)):
                found = replace(found, time=name, rows=np.argsort(np.asarray(cells), kind="stable"))
            else:
                found = replace(found, looks_like_time=name)
            break
    blocks = _blocks(table.n_rows)
    sample = found.rows[blocks]
    strata = _strata(y[sample], task)
    by_row, sampled = {}, {}
    half = LOOK_AT_COLUMNS // 2
    for j in [*range(len(names))[:half], *range(len(names))[half:][-half:]]:
        column = _read(table, j)
        if column is not None:
            numbers = _numbers(column)
            by_row[j], sampled[j] = numbers[blocks], numbers[sample]
    residuals = {j: one for j in sampled if (one := _residual(sampled[j], strata)) is not None}
    by_target = found.time is None and not task.label_counts(y) and _is_monotone(y)
    likeness, pairs = _likeness(
        [
            one
            for j, one in residuals.items()
            if names[j] not in ignored and not _is_monotone(sampled[j])
        ],
        np.argsort(strata, kind="stable"),
        strata,
    )
    is_alike = (likeness > LIKE) & (likeness * np.sqrt(pairs) > SURE)
    alike = not by_target and bool(is_alike.size and is_alike.mean() >= COLUMNS_ALIKE)
    found = replace(found, alike=alike, by_target=by_target)
    truth = _residual(_numbers(y)[sample], np.zeros(len(sample), int))
    in_runs, scattered = [], []
    for j, values in by_row.items():
        groups = len(np.unique(values))
        if (
            kinds[j] not in (NUMBER, TEXT)
            or names[j] in (found.time, found.looks_like_time)
            or not (values == np.round(values)).all()
            or not LEAST_GROUPS <= groups <= len(values) / GROUP_OF
        ):
            continue
        if np.count_nonzero(values[1:] != values[:-1]) < 1.2 * groups:
            in_runs.append((groups, j))
        elif groups >= LEAST_SCATTERED:
            others = [one for k, one in residuals.items() if k != j]
            if _is_mark(sampled[j], others, truth):
                scattered.append((groups, j))
    if not in_runs and not scattered:
        return found
    j = min(in_runs or scattered)[1]
    codes = np.unique(_numbers(table.read([j])[0]), return_inverse=True)[1]
    is_last = bool(in_runs) and np.array_equal(found.rows, np.arange(table.n_rows))
    return replace(found, group=names[j], codes=codes, in_runs=is_last)


def default_rows(order: RowOrder, y: Array, task: Task, seed: int) -> dict[str, Rows]:
    """Return a quarter of the rows, drawn at random; the last ones and whole groups, if need be.

    Groups that lie together are held out from the end, which makes them the last rows too. The last
    rows of each label are taken where the last rows of all lack some.
    """
    found = {"random": _random_rows(y, task, SHARE, seed)}
    labels = set(task.label_counts(y))

    def knows_all(rows: Rows) -> bool:
        return all(set(task.label_counts(y[part])) == labels for part in (rows.learn, rows.held))

    if order.codes is not None:
        found["group"] = _group_rows(order.codes, order.group, seed)
        ends = np.zeros(order.codes.max() + 1, int)
        ends[order.codes] = np.arange(len(y))  # the last row of each
        held = order.codes >= 0
        for group in np.argsort(ends):  # leave out the first ones, as long as enough is held
            without = held & (order.codes != group)
            if without.sum() < SHARE * len(y):
                break
            held = without
        last = _held_groups(order.codes, order.group, np.flatnonzero(~held), np.flatnonzero(held))
        if order.in_runs and len(last.learn) and knows_all(last):
            found["group"] = replace(last, words=f"{last.words}, the last ones")
    if (order.alike or order.time is not None) and not order.in_runs:
        rows = _last_rows(order.rows, SHARE)
        if order.time is not None:
            rows = replace(rows, words=f"the last {_percent(SHARE)} of the rows by {order.time!r}")
        if not knows_all(rows):
            own = [order.rows[y[order.rows] == label] for label in labels]
            parts = [_last_rows(one, SHARE) for one in own if len(one) > 1]
            learn, held = (
                np.sort(np.concatenate([getattr(part, name) for part in parts]))
                for name in ("learn", "held")
            )
            about = rows.about | {"of_each_label": True}
            rows = Rows(learn, held, about, f"the last {_percent(SHARE)} of the rows of each label")
        found["last"] = rows
    return {
        kind: rows
        for kind, rows in found.items()
        if kind == "random" or len(task.label_counts(y[rows.learn])) != 1
    }


def _blocks(n_rows: int) -> Array:
    """All rows, or evenly spaced blocks of neighbours."""
    if n_rows <= LOOK_AT_ROWS:
        return np.arange(n_rows)
    starts = np.linspace(0, n_rows - BLOCK, LOOK_AT_ROWS // BLOCK).astype(int)
    return (starts[:, None] + np.arange(BLOCK)).ravel()


def _strata(y: Array, task: Task) -> Array:
    """The label of every row as a number, or the tenth of the numbers that it lies in."""
    if task.label_counts(y):
        return np.asarray(np.unique(y, return_inverse=True)[1])
    return np.asarray((rankdata(y) - 1) * 10 // len(y), int)


def _read(table: Table, j: int) -> Array | None:
    """A column, or None where it has no value or cannot be read."""
    try:
        return table.read([j])[0]
    except (InputError, TypeError):  # a sparse table
        return None


def _numbers(values: Array) -> Array:
    """A column of numbers as it is, others as codes."""
    if values.dtype.kind not in "fiub":
        values = np.unique(values.astype(str), return_inverse=True)[1]
    return values.astype(float)


def _residual(values: Array, strata: Array) -> Array | None:
    """How far the rank of each value is from its stratum's mean, in standard deviations."""
    known = np.isfinite(values)
    if not known.any():
        return None
    ranks = rankdata(np.where(known, values, np.median(values[known])))
    ranks = ranks - (np.bincount(strata, ranks) / np.maximum(np.bincount(strata), 1))[strata]
    spread = np.sqrt(np.mean(ranks**2))
    return ranks / spread if spread > 1e-6 else None


def _likeness(residuals: list[Array], order: Array, belongs: Array) -> tuple[Array, int]:
    """Correlate rows that follow each other and belong together, by column; and their number."""
    together = belongs[order][1:] == belongs[order][:-1]
    pairs = int(together.sum())
    shares = [
        (one[order][1:] * one[order][:-1])[together].mean() if pairs else 0.0 for one in residuals
    ]
    return np.asarray(shares), pairs


def _is_mark(values: Array, others: list[Array], truth: Array | None) -> bool:
    """Whether rows with one value resemble each other, and those of the next value do not.

    A sensor's values have an order, so that the means of neighbouring values are alike too.
    """
    codes = np.unique(values, return_inverse=True)[1]
    rows = np.random.default_rng(0).permutation(len(codes))[:5000]
    order, sizes = rows[np.argsort(codes[rows], kind="stable")], np.bincount(codes)

    def judged(columns: list[Array]) -> tuple[Array, float]:
        means = [np.bincount(codes, one) / sizes for one in columns]
        centred = [one - one.mean() for one in means]
        smooth = [np.mean(one[1:] * one[:-1]) / max(np.mean(one**2), 1e-12) for one in centred]
        return _likeness(columns, order, codes)[0], float(np.median(smooth))

    if truth is not None:
        (like,), smooth = judged([truth])
        if like > 0.5 and smooth < 0.25:
            return True
    if not others:
        return False
    likeness, smooth = judged(others)
    many = np.median(likeness) > 0.25 or np.mean(likeness > 0.3) > 0.4
    return smooth < 0.25 and bool(many)


def _is_named_like_time(name: object) -> bool:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", str(name)).lower()  # saleDate
    return NAMED_LIKE_TIME.search(words) is not None


def _has_digits(values: Array) -> bool:
    """Whether a column may hold times (OverTime is Yes or No)."""
    return any(character.isdigit() for value in values[:100] for character in str(value))


def _is_monotone(values: Array) -> bool:
    """Whether a column never falls, or never rises, from one row to the next."""
    known = np.asarray([value for value in values.tolist() if value is not None and value == value])
    rises, falls = known[1:] > known[:-1], known[1:] < known[:-1]
    return len(known) > 1 and bool(np.any(rises) != np.any(falls))
