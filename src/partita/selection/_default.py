"""The method and size for so many bad units where nothing is searched, and what they keep.

The rule is a function of counts, fixed before any table was seen: for a proof it is a constant.
docs/results/radius.md has the measurements.
"""

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from .._support import Estimator, JsonObject, TableLike, check_whole, percent
from ..ensemble import fit_full_model
from ..errors import InputError
from ..tables import open_table
from ..workflow import TASKS, CertifiedTable, Summary, TrainingTable, choose_command
from ._evaluation import LEAVE_OUT, at
from ._grid import Options

MOST_FITS = 60  # of a leave-out ensemble
GROUPS = {1: 17, 2: 9, 3: 8}  # by radius, as many as so many fits cover; at most one per unit
FEWEST_UNITS = 10  # for leave-out on numbers
MOST_ROWS = 50_000  # for leave-out, which takes about sixteen times as long to fit
SAMPLE = 3000  # rows to check a default on: two thirds to learn from, the others to judge by
FEWEST = 50  # to judge by; fewer say nothing


def default_options(
    n_units: int, radius: int, task: str, n_rows: int, method: str | None = None
) -> Options:
    """Return the method and size for a proof against ``radius`` of the units.

    Against one to three units models that leave units out, with nearly a full model's accuracy,
    where numbers have ``FEWEST_UNITS`` and rows are at most ``MOST_ROWS``. Otherwise a partition
    into ``4 * radius + 3`` submodels, for numbers ``2 * radius + 1``: odd, at most one per unit.
    ``method``: where it is settled already. The keys are options of ``partita fit``.
    """
    least, labels = 2 * radius + 1, task == "classification"
    if n_units < least:
        raise InputError(
            f"radius is {radius}, which needs at least {least} units, but there are {n_units}: "
            "lower radius, or use finer units"
        )
    few_bad, many_units = radius in GROUPS, labels or n_units >= FEWEST_UNITS
    if method is None and few_bad and many_units and n_rows <= MOST_ROWS:
        method = LEAVE_OUT
    if method == LEAVE_OUT:
        groups = min(n_units, GROUPS.get(radius, least))
        found: Options = {"method": LEAVE_OUT, "radius": radius, "groups": groups}
        return found | {"max-models": MOST_FITS}
    size = min(n_units, 4 * radius + 3 if labels else least)
    return {"submodels": size - (size + 1) % 2}


def default_ensemble(
    X: TableLike,
    radius: int = 1,
    *,
    task: str = "classification",
    units: object = None,
    trusted: object = (),
    **settings: object,
) -> Estimator:
    """Make the ensemble for a proof against ``radius`` units, where nothing is searched.

    Method and size follow from the radius, the task and the numbers of units and rows alone, so
    the choice takes nothing from a proof. ``partita fit --radius`` does the same.
    :func:`partita.choose` compares settings on your rows, and may find a better one.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n_samples, n_features)
        Training rows. Their columns are counted; cells are not read.
    radius : int, default=1
        How many units an attacker may own.
    task : {"classification", "regression"}, default="classification"
        Whether the target holds labels or numbers.
    units : mapping, array-like of ids, callable or Units, optional
        What an attacker takes over as a whole. By default every column is a unit.
    trusted : list of columns, default=()
        Columns that no attacker can touch.
    **settings : dict
        Further settings that both methods have, such as ``estimator`` or ``random_state``.

    Returns
    -------
    estimator
        A partition or leave-out ensemble, not fitted.

    Raises
    ------
    InputError
        If there are fewer than ``2 * radius + 1`` units.

    See Also
    --------
    choose : Compare both methods on validation rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from partita.selection import default_ensemble
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> default_ensemble(X, radius=1)
    LeaveOutClassifier(max_models=60, n_groups=17)
    >>> default_ensemble(X, radius=4)
    FeaturePartitionClassifier(n_submodels=19)
    """
    check_whole("radius", radius, 1)
    if task not in TASKS:
        raise InputError(f"task is {task!r}: give one of {', '.join(TASKS)}")
    common: JsonObject = {"units": units, "trusted": trusted, **settings}
    partition = TASKS[task].ensemble(**common)
    table = open_table(X)
    options = default_options(len(clone(partition).units_of(table)), radius, task, table.n_rows)
    if "submodels" in options:
        return partition.set_params(n_submodels=options["submodels"])
    sizes = {"radius": radius, "n_groups": options["groups"], "max_models": MOST_FITS}
    return TASKS[task].leave_out_ensemble(**common, **sizes)


def try_default(training: TrainingTable, model: Estimator, radius: int) -> JsonObject | None:
    """Fit a model on part of a sample of the table, and judge it on the rest, drawn at random.

    Nothing is chosen by it, so no proof depends on it. None where too few rows can be spared.

    Returns
    -------
    dict, optional
        ``sentence`` and ``warnings``, for people. For labels, which share of rows is right:
        ``now``, ``certified`` at the radius, by ``one_model`` on all columns and by a ``constant``;
        for numbers, the error that half of the rows stay within.
    """
    rows = np.random.default_rng(0).permutation(len(training.y))[:SAMPLE]
    counts = training.task.label_counts(training.y[rows])
    if len(rows) < 3 * FEWEST or min(counts.values(), default=2) < 2:
        return None
    stratify = training.y[rows] if counts else None
    parts = train_test_split(rows, test_size=1 / 3, random_state=0, stratify=stratify)
    (X, y), (table, truth) = (
        (training.table.with_rows(part), training.y[part]) for part in map(np.sort, parts)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trial = clone(model).set_params(verbose=0).fit(X, y)
        trial.full_model_ = fit_full_model(trial, X, y)
    certified = CertifiedTable.of(trial, table, truth=truth)
    found = (_shares if counts else _errors)(certified, radius)
    one_model = "failed" if found["one_model"] is None else _text(found["one_model"], counts)
    sentence = (
        f"On {len(truth):,} rows, by a trial that learnt from {len(y):,} others: "
        f"{'right in' if counts else 'half of the predictions within'} "
        f"{_text(found['now'], counts)}, whatever {radius} of the {trial.counts_.what} say "
        f"{_text(found['certified'], counts)}; one model on all columns {one_model}, always the "
        f"same answer {_text(found['constant'], counts)}."
    )
    return found | {"rows": len(truth), "sentence": sentence}


def _text(value: float, is_share: object) -> str:
    return percent(value) if is_share else f"{value:.4g}"


def _shares(certified: CertifiedTable, radius: int) -> JsonObject:
    """Return the shares of rows that are right."""
    summary = Summary.of(certified)
    found = summary.to_dict()
    return {
        "now": found["certified_accuracy"][0],
        "certified": at(found["certified_accuracy"], radius),
        "one_model": found["full_model_accuracy"],
        "constant": found["constant_accuracy"],
        "warnings": summary.warnings(radius),
    }


def _errors(certified: CertifiedTable, radius: int) -> JsonObject:
    """Return the distances from the truth that half of the rows stay within."""
    truth, full = certified.truth, certified.full_model_prediction
    usual = certified.model.usual_value
    assert truth is not None
    assert usual is not None
    low, high = certified.intervals.get(radius, (np.array(-np.inf), np.array(np.inf)))
    found = {
        "now": np.abs(certified.prediction - truth),
        "certified": np.maximum(np.abs(low - truth), np.abs(high - truth)),
        "one_model": None if full is None else np.abs(full - truth),
        "constant": np.abs(usual - truth),
    }
    medians: JsonObject = {
        name: None if one is None else float(np.median(one)) for name, one in found.items()
    }
    beaten = medians["certified"] >= medians["constant"]
    warning = (
        f"At r = {radius} half of the predictions can be moved further from the truth than a "
        f"constant, the training median, is. Other settings: {choose_command(radius)}."
    )
    return medians | {"warnings": [warning] * beaten}
