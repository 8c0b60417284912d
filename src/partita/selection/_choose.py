"""The doors to the search: ``choose`` and ``sweep`` on arrays, ``choose_file`` on a file."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from sklearn import get_config
from sklearn.utils import _safe_indexing

from .. import __version__
from .._support import (
    Array,
    Estimator,
    JsonObject,
    PathLike,
    TableLike,
    array_of,
    check_whole,
    json_value,
    log,
    write_atomic,
)
from ..errors import InputError
from ..partition import Informed
from ..tables import open_table, sha256_of
from ..workflow import (
    MOST_LABELS,
    ON_REFERENCE,
    ON_TRAINING,
    TASKS,
    Task,
    TrainingTable,
    code_hash,
    code_of,
    library_versions,
    named_estimator,
)
from ._choice import Choice, worst_of
from ._grid import Grid
from ._search import ResultCache, Split, search
from ._splits import HeldOut, default_rows, hold_out, reference_splits, row_order


def choose(
    X: TableLike = None,
    y: object = None,
    X_valid: TableLike = None,
    y_valid: object = None,
    radius: int | None = 1,
    *,
    reference: tuple[TableLike, object] | None = None,
    units: object = None,
    trusted: object = (),
    estimator: Estimator = None,
    want: str | None = None,
    tolerance: float | None = None,
    relative: float | None = None,
    submodels: Sequence[int] | None = None,
    groups: Sequence[int] | None = None,
    rules: Sequence[str] | None = None,
    margins: Sequence[float] | None = None,
    priors: Sequence[float] | None = None,
    offsets: Sequence[object] | None = None,
    stretches: Sequence[float] | None = None,
    learners: Sequence[str] | None = None,
    max_models: int = 150,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Choice:
    """Compare partition and leave-out ensembles for a proof against ``radius`` units.

    Over both methods, their sizes, rules, priors and a full model behind the vote: accuracy and
    certified accuracy on the validation rows, beside the best of three ordinary models of all
    columns and the best constant answer. ``partita choose`` is the same for a table in a file.

    Ensembles that learn from the training table carry its content into the choice, however clean
    the validation rows are: rewriting one training column may change what is chosen, and proofs
    hold given the chosen settings only. With ``reference``, settings are chosen on that
    trusted sample alone, and proofs hold without this condition. Then fit ``estimator`` on all
    rows.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n_samples, n_features), optional
        Training rows. With ``reference`` they may be left out: nothing is learnt from them, and
        they only serve to warn if the sample has other columns or shares rows with them.
    y : array-like of shape (n_samples,), optional
        Labels, or numbers if ``tolerance`` or ``relative`` is given. Not read with ``reference``.
    X_valid : array-like or DataFrame of shape (n_valid, n_features), optional
        Rows to judge by, none of them in X. By default a quarter of X, drawn at random; and the
        last quarter where neighbouring rows resemble each other, or whole groups where a column
        looks as if it groups rows. Not with ``reference``.
    y_valid : array-like of shape (n_valid,), optional
        Their labels or numbers.
    radius : int or None, default=1
        How many units an attacker may own. None: compare partitions at all radii (:func:`sweep`).
    reference : (X_ref, y_ref), optional
        A trusted sample: rows that no attacker could touch, none of them in X. Settings learn from
        two thirds of it and are judged by the rest, in five random splits; shares are their means.
        At least 30 rows, and 3 of every label.
    units : mapping, array-like of ids, callable or Units, optional
        What an attacker takes over as a whole. By default every column is a unit.
    trusted : list of columns, default=()
        Columns that no attacker can touch.
    estimator : estimator, optional
        What submodels are clones of. By default ``learners`` are tried.
    want : str, optional
        What to recommend: ``"certified"``, the setting with the most rows certified;
        ``"accuracy=0.84"``, the most among those at least that accurate; ``"balanced"``, the
        highest mean certified recall; ``"recall:LABEL"``, the highest certified recall of one
        label. By default ``"balanced"`` where the rarest label has less than half as many rows as
        the most common one, and ``"certified"`` otherwise. A setting that does not score more than
        the best constant answer is never recommended.
    tolerance, relative : float, optional
        For numbers: how far from the truth a prediction counts as right, also as a share of it.
    submodels : sequence of int, optional
        Numbers of submodels to try; by default 3 to 31.
    groups : sequence of int, optional
        Numbers of groups to try for leave-out ensembles; by default 6, 9, 12 and the most that
        ``max_models`` allows.
    rules : sequence of str, optional
        Some of plurality, runoff and tournament.
    margins, priors, offsets : sequence of float, optional
        Of the tournament; an offset may also be a mapping of a label to its head start in votes.
    stretches : sequence of float, optional
        For numbers: how far the submodels' values are moved away from their centre.
    learners : sequence of str, optional
        Names of what submodels may be, as ``partita fit --estimator`` takes them, for both methods;
        "auto" is each method's own. By default that, randomized trees (for leave-out ensembles with
        several sizes of a leaf) and a linear model.
    max_models : int, default=150
        How many fits a leave-out ensemble may take.
    random_state : int, default=0
        Of all ensembles, and of the splits of ``reference``.
    n_jobs : int, optional
        Threads; by default all cores.
    verbose : int, default=0
        1: progress on standard error.

    Returns
    -------
    Choice
        ``estimator`` is the recommended one, not fitted; ``plot()`` draws the frontier.

    Raises
    ------
    InputError
        If an argument is not valid, or there are too few units for the radius.

    See Also
    --------
    search_rules : Choose a rule for an ensemble that is fitted already.

    References
    ----------
    Theory, section 1 (condition 8), 10 and 12.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import choose
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> trusted_sample = X[:150], y[:150]
    >>> found = choose(reference=trusted_sample, estimator=GaussianNB(), submodels=[5, 9])
    >>> found.chosen
    'on-reference'
    >>> clf = found.estimator.fit(X[150:400], y[150:400])
    >>> bool((clf.certify(X[400:]).radius >= 1).mean() > 0.8)
    True
    """
    if radius is not None:
        check_whole("radius", radius, 0)
    is_number = tolerance is not None or relative is not None
    task = TASKS["regression" if is_number else "classification"]
    common: JsonObject = {"units": units, "trusted": trusted, "random_state": random_state}
    common |= {"n_jobs": n_jobs, "verbose": verbose}
    partition = task.ensemble(estimator, **common)
    leave_out = task.leave_out_ensemble(estimator, max_models=max_models, **common)
    told: list[str] = []
    kinds: dict[str, tuple[list[tuple[Rows, ...]], JsonObject]]
    if reference is not None:
        pairs = _reference_rows(task, reference, X, (X_valid, y_valid), random_state)
        kinds = {"reference": (pairs, {})}
    elif X_valid is None and y_valid is None and X is not None and y is not None:
        labels = array_of("y", y)
        order = row_order(open_table(X), labels, task)
        told = order.warnings(trusted if isinstance(trusted, list | tuple) else ())
        kinds = {}
        for kind, rows in default_rows(order, labels, task, random_state).items():
            parts = [(_safe_indexing(X, one), labels[one]) for one in (rows.learn, rows.held)]
            kinds[kind] = [tuple(parts)], {"split": rows.about, "held_out_how": rows.words}
    else:
        given = {"X": X, "y": y, "X_valid": X_valid, "y_valid": y_valid}
        for name, value in given.items():
            if value is None:
                raise InputError(
                    f"{name} is missing: give X, y, X_valid and y_valid, or reference=(X_ref, "
                    "y_ref); of X and y alone, some rows are held out"
                )
        pairs = [((X, array_of("y", y)), (X_valid, array_of("y_valid", y_valid)))]
        kinds = {"given": (pairs, {})}

    def judged(kind: str, want: str | None) -> Choice:
        found = search(
            [Split(partition, leave_out, train, valid) for train, valid in kinds[kind][0]],
            Grid(submodels, groups, rules, margins, priors, offsets, stretches, learners),
            want,
            radius,
            (tolerance, relative),
            chosen=ON_TRAINING if reference is None else ON_REFERENCE,
            verbose=verbose,
        )
        return replace(found, row_warnings=told, about=kinds[kind][1])

    if reference is None:
        told = [*told, *_many_labels(array_of("y", y), task)]
    words = {kind: about.get("held_out_how", "") for kind, (_, about) in kinds.items()}
    return _by_each(words, judged, want, verbose)


def _by_each(
    words: Mapping[str, str],
    judged: Callable[[str, str | None], Choice],
    want: str | None,
    verbose: int,
) -> Choice:
    """Judge all settings by each kind of split, and by the same score; the worst one decides."""
    found: dict[str, Choice] = {}
    for number, (kind, how) in enumerate(words.items(), start=1):
        if verbose and len(words) > 1:
            log(
                f"judging by {how} ({number} of {len(words)}: rows seem to belong together, so "
                f"each setting is fitted {len(words)} times)"
            )
        found[kind] = judged(kind, want)
        want = found[kind].want
    return worst_of(found)


def sweep(
    X: TableLike = None,
    y: object = None,
    X_valid: TableLike = None,
    y_valid: object = None,
    **options: Any,
) -> Choice:
    """Compare partitions at all radii: :func:`choose` without a radius.

    Parameters
    ----------
    X, y, X_valid, y_valid : array-like, optional
        Rows to learn from and rows to judge by, as in :func:`choose`.
    **options : dict
        As :func:`choose` takes them.

    Returns
    -------
    Choice
        ``by_radius`` has the recommended setting for r = 0, 1, ..., as far as one beats the best
        constant answer.

    See Also
    --------
    choose : Compare both methods for one radius.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita.selection import sweep
    >>> X, y = load_wine(return_X_y=True)
    >>> rows = X[::2], y[::2], X[1::2], y[1::2]
    >>> found = sweep(*rows, estimator=GaussianNB(), submodels=[3, 5], rules=["plurality"])
    >>> [one.fit_options for one in found.settings]
    ['--submodels 3 --rule plurality', '--submodels 5 --rule plurality']
    """
    return choose(X, y, X_valid, y_valid, radius=None, **options)


def _many_labels(y: Array, task: Task) -> list[str]:
    """Question numbers that are taken for labels."""
    n_labels = len(task.label_counts(y))
    if y.dtype.kind not in "iuf" or n_labels <= MOST_LABELS:
        return []
    return [
        f"y holds {n_labels} different numbers, which are taken for labels: if they are "
        "quantities, give tolerance or relative."
    ]


Rows = tuple[TableLike, Array]


def _reference_rows(
    task: Task,
    reference: tuple[TableLike, object],
    X: TableLike,
    valid: tuple[TableLike, object],
    random_state: int,
) -> list[tuple[Rows, ...]]:
    """Split a trusted sample into rows to learn from and rows to judge by, several times.

    X serves to warn of rows that are in both; nothing is learnt from it.
    """
    if not isinstance(reference, tuple | list) or len(reference) != 2:
        raise InputError(f"reference is a {type(reference).__name__}: give the pair (X_ref, y_ref)")
    if any(value is not None for value in valid):
        raise InputError(
            "X_valid and y_valid do not go with reference, part of which settings are judged by: "
            "leave them out"
        )
    X_ref, y_ref = reference[0], array_of("y_ref", reference[1])
    if X is X_ref:
        raise InputError(
            "reference is X itself, where an attacker could change rows and with them the choice: "
            "give other rows, which no attacker could touch"
        )
    if X is not None:
        Informed(X_ref, y_ref).check_disjoint(open_table(X), strict=False)
    table = open_table(X_ref)
    if table.n_rows != len(y_ref):
        raise InputError(
            f"reference has {table.n_rows} rows and {len(y_ref)} labels or numbers: give one for "
            "each row"
        )
    return [
        tuple((_safe_indexing(X_ref, rows), y_ref[rows]) for rows in split)
        for split in reference_splits(y_ref, task, random_state)
    ]


@dataclass(frozen=True)
class Trial:
    """How settings of a table in a file are tried.

    Attributes
    ----------
    estimator : str
        What each submodel is; "auto": the default of its method.
    holdout : float or path, optional
        The share of rows held out at random (None: a quarter, unless ``last`` or ``group`` is
        given), or another table.
    seed : int
        Decides the split, the partition, and every submodel's seed.
    tolerance, relative : float, optional
        For numbers: what counts as right.
    last : float, optional
        Hold out the last share of the rows, in the order of the table.
    group : str, optional
        A column: rows that share its value are never split.
    want : str, optional
        What settings are compared by (:class:`Objective`).
    radius : int, optional
        Compare both methods for a proof at this radius; None: partitions at all radii.
    """

    estimator: str = "auto"
    holdout: float | str | Path | None = None
    seed: int = 0
    tolerance: float | None = None
    relative: float | None = None
    last: float | None = None
    group: str | None = None
    want: str | None = None
    radius: int | None = None


def choose_table(
    training: TrainingTable,
    grid: Grid,
    trial: Trial,
    folder: Path | None = None,
    jobs: int | None = None,
    verbose: int = 1,
) -> Choice:
    """Choose settings for a table in a file, on held-out rows or on its reference alone.

    Parameters
    ----------
    training : TrainingTable
        The table.
    grid : Grid
        The settings to try.
    trial : Trial
        How they are tried.
    folder : Path, optional
        Where results of finished ensembles are kept, so that an interrupted search resumes.
    jobs : int, optional
        Threads; None: all cores. Results do not depend on it.
    verbose : int, default=1
        0: no progress on standard error.
    """
    task, reference, radius = training.task, training.reference, trial.radius
    task.check_tolerance(trial.tolerance, trial.relative, needed=True)
    choices = {name: getattr(trial, name) for name in ("holdout", "last", "group")}
    kinds, told = hold_out(training, choices, trial.seed)

    def judged(kind: str, want: str | None) -> Choice:
        rows, name, seed = kinds[kind], trial.estimator, trial.seed
        whole = replace(rows[0].training, reference=reference)
        splits = []
        for one in rows:
            common: JsonObject = {"seed": seed, "verbose": verbose, "n_jobs": jobs}
            partition = one.training.ensemble(name, task.rule(None), "auto", **common)
            leave_out = one.training.leave_out_ensemble(name, radius or 1, **common)
            splits.append(Split(partition, leave_out, one.train, one.valid))
        facts = _facts(whole, trial, rows[0])
        key = _key(whole, trial, facts)
        cache = None if folder is None else ResultCache(folder, key, training.check_unchanged)
        found = search(
            splits,
            grid,
            want,
            radius,
            (trial.tolerance, trial.relative),
            trial.estimator,
            ON_TRAINING if reference is None else ON_REFERENCE,
            cache,
            verbose,
        )
        about = facts | {"key": key, "learnt_from": rows[0].train[0].n_rows}
        about["held_out_how"] = rows[0].words
        return replace(found, row_warnings=[*told, *rows[0].warnings()], about=about)

    found = _by_each(
        {kind: rows[0].words for kind, rows in kinds.items()}, judged, trial.want, verbose
    )
    training.check_unchanged()
    return found


def choose_file(
    training: TrainingTable,
    grid: Grid,
    out: PathLike,
    trial: Trial,
    jobs: int | None = None,
    verbose: int = 1,
) -> Choice:
    """Choose, and write choice.json and choice.png into a folder.

    After an interruption, the same call resumes: what is finished is not done again.
    """
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"out {str(folder)!r} is a file: give a folder")
    found = choose_table(training, grid, trial, folder, jobs, verbose)
    write_atomic(folder / "choice.png", found.png())
    text = json.dumps(json_value(found.as_dict()), indent=1)
    write_atomic(folder / "choice.json", text.encode())
    ResultCache(folder, "").clear()
    return found


def _facts(training: TrainingTable, trial: Trial, rows: HeldOut) -> JsonObject:
    """Everything that the results depend on; what settings are compared by is not among it."""
    path, units_file = training.file.path, training.units_file
    choices = ("holdout", "last", "group", "want", "radius")
    return {
        "partita": __version__,
        "data": {"name": path.name, "sha256": sha256_of(path), "rows": training.file.n_rows},
        "csv": None if training.csv is None else training.csv.to_dict(),
        "target": training.target,
        "units": units_file.units,
        "trusted": units_file.trusted,
        "ignore": units_file.ignore,
        "reference": None if training.reference is None else training.reference.about(),
        **{name: value for name, value in asdict(trial).items() if name not in choices},
        "split": rows.about,
        "code": code_hash(trial.estimator),
        "task": training.task.name,
    }


def _key(training: TrainingTable, trial: Trial, facts: JsonObject) -> str:
    """A hash of the facts, and of all else that results depend on."""
    everything = {
        "request": facts,
        "code": code_of(named_estimator(trial.estimator, training.task)),
        "versions": library_versions(),
        "config": get_config(),
    }
    return hashlib.sha256(json.dumps(everything, sort_keys=True).encode()).hexdigest()[:16]
