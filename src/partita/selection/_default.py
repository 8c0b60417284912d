"""The method and size for so many bad units where nothing is searched, and what they keep.

The rule is a function of counts, fixed before any table was seen: for a proof it is a constant.
docs/results/radius.md has the measurements.
"""

import warnings

import numpy as np
from sklearn.base import clone

from .._support import Array, Estimator, JsonObject, TableLike, check_whole, percent
from ..ensemble import fit_full_model, full_predictions
from ..errors import InputError
from ..tables import open_table
from ..workflow import (
    TASKS,
    CertifiedTable,
    Summary,
    TrainingTable,
    choose_command,
    ordinary_estimators,
)
from ._evaluation import LEAVE_OUT, at
from ._grid import Options
from ._splits import RowOrder, Rows, default_rows

MOST_FITS = 60  # of a leave-out ensemble
GROUPS = {1: 17, 2: 9, 3: 8}  # by radius, as many as so many fits cover; at most one per unit
FEWEST_UNITS = 10  # for leave-out on numbers
MOST_ROWS = 50_000  # for leave-out, which takes about ten times as long to fit
MOST_LEARN, MOST_HELD = 2000, 1000  # rows to try a default on
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


def try_default(
    training: TrainingTable, model: Estimator, radius: int, order: RowOrder
) -> JsonObject | None:
    """Fit a model on a sample of the table, and judge it on rows that are held out.

    They are drawn at random; where rows belong together, also the last rows and whole groups, and
    what comes out worst counts. Nothing is chosen by it, so no proof depends on it.

    Returns
    -------
    dict, optional
        None where too few rows can be spared. ``sentence`` and ``warnings``, for people. For
        labels, which share of rows is right: ``now``, ``certified`` at the radius, by the best
        ``ordinary`` model of all columns and by a ``constant``; for numbers, the error that half of
        the rows stay within.
    """
    counts = training.task.label_counts(training.y)
    if len(training.y) < 4 * FEWEST or min(counts.values(), default=2) < 2:
        return None
    kinds = default_rows(order, training.y, training.task, 0).values()
    trials = [_trial(training, model, radius, rows) for rows in kinds]
    return (min if counts else max)(trials, key=lambda trial: trial["certified"])


def _trial(training: TrainingTable, model: Estimator, radius: int, rows: Rows) -> JsonObject:
    """Return what a model is worth that learns from some of these rows, on others of them."""
    counts, rng = training.task.label_counts(training.y), np.random.default_rng(0)
    (X, y), (table, truth) = (
        (training.table.with_rows(part), training.y[part])
        for part in (
            np.sort(rng.permutation(given)[:most])
            for given, most in ((rows.learn, MOST_LEARN), (rows.held, MOST_HELD))
        )
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trial = clone(model).set_params(verbose=0).fit(X, y)
        certified = CertifiedTable.of(trial, table, truth=truth)
        found = (_shares if counts else _errors)(certified, radius)
        others = {}
        for name, estimator in ordinary_estimators(training.task, y).items():
            trial.full_model_ = fit_full_model(clone(model).set_params(estimator=estimator), X, y)
            predicted = full_predictions(trial, certified.table)
            if predicted is not None:
                others[name] = _score(predicted, truth, bool(counts))
    best = (max if counts else min)(others, key=lambda name: others[name], default="none")
    text = {
        name: percent(value) if counts else f"{value:.4g}"
        for name, value in (found | {"ordinary": others.get(best, np.nan)}).items()
        if name != "warnings"
    }
    sentence = (
        f"On {len(truth):,} held-out rows ({rows.words}), by a trial on {len(y):,} others: "
        f"{'right in' if counts else 'half of the predictions within'} {text['now']}, whatever "
        f"{radius} of the {trial.counts_.what} say {text['certified']}; the best ordinary model of "
        f"all columns ({best}) {text['ordinary']}, always the same answer {text['constant']}."
    )
    facts = {"ordinary": others.get(best), "rows": len(truth), "sentence": sentence}
    return found | facts


def _score(predicted: Array, truth: Array, are_labels: bool) -> float:
    """Return the share of rows that are right; for numbers the error that half stay within."""
    return float(np.mean(predicted == truth) if are_labels else np.median(abs(predicted - truth)))


def _shares(certified: CertifiedTable, radius: int) -> JsonObject:
    """Return the shares of rows that are right."""
    summary = Summary.of(certified)
    found = summary.to_dict()
    return {
        "now": found["certified_accuracy"][0],
        "certified": at(found["certified_accuracy"], radius),
        "constant": found["constant_accuracy"],
        "warnings": summary.warnings(radius),
    }


def _errors(certified: CertifiedTable, radius: int) -> JsonObject:
    """Return the distances from the truth that half of the rows stay within."""
    truth, usual = certified.truth, certified.model.usual_value
    assert truth is not None
    assert usual is not None
    low, high = certified.intervals.get(radius, (np.array(-np.inf), np.array(np.inf)))
    worst = np.where(truth - low > high - truth, low, high)
    values = {"now": certified.prediction, "certified": worst, "constant": np.asarray(usual)}
    found: JsonObject = {name: _score(one, truth, False) for name, one in values.items()}
    beaten = found["certified"] >= found["constant"]
    warning = (
        f"At r = {radius} half of the predictions can be moved further from the truth than a "
        f"constant, the training median, is. Other settings: {choose_command(radius)}."
    )
    return found | {"warnings": [warning] * beaten}
