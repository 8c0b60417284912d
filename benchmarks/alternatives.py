r"""One backdoored source leaves a plain model 0 % right; partita proves 60 to 64 % against it.

Eight models on the data of the gallery's three deployments, attacked by evasion, poisoning and
backdoors in one to three sources; 2 cores. Without --run it prints the tables of the results in
benchmarks/results/alternatives, which docs/guide/alternatives.md shows.

    python benchmarks/alternatives.py
    python benchmarks/alternatives.py --run gas air credit
    python benchmarks/alternatives.py --figure docs/images/alternatives.png

Settings are the models' own defaults: nothing is chosen, so every test row is looked at once. Seed
0 draws the rows and the attacks. What users would do instead is below: defences around one learner,
each with fit and predict on frames.
"""

import argparse
import json
import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metaestimators import available_if

from partita._support import Array, Estimator, TableLike
from partita.attacks import (
    AttackedTable,
    AttackTable,
    Scene,
    Scorer,
    evade,
    measure,
    owned_columns,
)
from partita.baselines import RandomizedAblationClassifier, RandomizedAblationRegressor
from partita.certificates import Certificates
from partita.datasets import load_beijing_air, load_gas_drift, load_lending_club
from partita.ensemble import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    LeaveOutClassifier,
    LeaveOutRegressor,
    TableBoostingClassifier,
    TableBoostingRegressor,
)
from partita.partition import choose_units
from partita.tables import apply_codes, learn_codes, table_columns

RESULTS = Path(__file__).parent / "results" / "alternatives"
PLAIN = "one model"
TRAINING_ROWS, TEST_ROWS, RADII = 1000, 200, (1, 2, 3)
MOST_MODELS = 30  # of a leave-out ensemble, which is fitted many times here
ATTACKED_ROWS = 150  # in each round of adversarial training
PROBES = 3  # a purpose of draws of its own: an attacker who probes does not know the other draws
AIR_CLASSES, AIR_LIMITS = (
    np.array(["good", "fair", "poor", "hazardous"], dtype=object),
    (35, 75, 150),
)


class CollectedBatches(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A model that is fitted on all batches at once, when it is first asked.

    Parameters
    ----------
    estimator : estimator
        The model.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def partial_fit(self, X: Array, y: Array, classes: Any = None) -> Self:
        """Keep a batch."""
        self.batches_ = [*getattr(self, "batches_", []), (X, y)]
        return self

    def predict(self, X: Array) -> Array:
        """Predict, after a fit on all batches that came before."""
        if self.batches_:
            rows, target = (np.concatenate(part) for part in zip(*self.batches_, strict=True))
            self.model_, self.batches_ = clone(self.estimator).fit(rows, target), []
        prediction: Array = self.model_.predict(X)
        return prediction


def _is_classifier(ablated: Any) -> bool:
    return not ablated.of_values


class AblatedSources(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """One model, asked many times with random sources of the row ablated; the vote decides.

    Its certificates hold with high probability, against changes of the row alone.

    Parameters
    ----------
    estimator : estimator
        The model.
    units : mapping from str to tuple of str
        The columns of each source.
    trusted : tuple of str, default=()
        Columns that are never ablated.
    of_values : bool, default=False
        Whether numbers are predicted instead of labels.
    keep : int or "auto", default="auto"
        How many sources are kept; "auto": a fifth.
    epochs : int, default=2
        How many ablated copies of each training row there are.
    n_draws : int, default=100
        How many ablations of a row are asked in ``predict``.
    n_probes : int, default=15
        How many are asked in ``predict_proba``, others than those of ``predict``: the proof holds
        against an attacker who does not know the draws.
    random_state : int, default=0
        Of the ablations.
    """

    def __init__(
        self,
        estimator: Any,
        units: Mapping[str, tuple[str, ...]],
        trusted: tuple[str, ...] = (),
        of_values: bool = False,
        keep: Any = "auto",
        epochs: int = 2,
        n_draws: int = 100,
        n_probes: int = 15,
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.units = units
        self.trusted = trusted
        self.of_values = of_values
        self.keep = keep
        self.epochs = epochs
        self.n_draws = n_draws
        self.n_probes = n_probes
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Learn how columns become numbers, and fit on ablated rows."""
        columns = table_columns(X)
        self.codes_ = [learn_codes(column) for column in columns]
        numbers = self._encoded(columns)
        with np.errstate(all="ignore"):
            middle = np.nanmedian(np.where(np.isnan(numbers).all(axis=0), 0.0, numbers), axis=0)
        self.fill_ = middle
        filled = self._filled(numbers)
        low, high = filled.min(axis=0), filled.max(axis=0)
        units = choose_units(self.units, [str(name) for name in X.columns], self.trusted, None)
        keep = -(-len(units) // 5) if self.keep == "auto" else self.keep
        kind = RandomizedAblationRegressor if self.of_values else RandomizedAblationClassifier
        self.model_ = kind(
            CollectedBatches(self.estimator),
            keep=keep,
            units=units,
            low=low,
            high=np.where(high > low, high, low + 1.0),
            epochs=self.epochs,
            n_select=self.n_draws,
            n_certify=1000,
            alpha=0.001,
            random_state=self.random_state,
        ).fit(filled, y)
        self.model_.predict(filled[:1])  # the fit itself
        return self

    def predict(self, X: Any) -> Array:
        """Predict the label of most ablations, or the median value."""
        prediction: Array = self.model_.predict(self._numbers(X))
        return prediction

    @available_if(_is_classifier)  # type: ignore[untyped-decorator]  # as above
    def predict_proba(self, X: Any) -> Array:
        """Shares of the vote."""
        scaled, _ = self.model_._rows_to_predict(self._numbers(X))
        votes: Array = self.model_._votes(scaled, self.n_probes, PROBES)
        return votes / self.n_probes

    def certify(self, X: Any, **options: Any) -> Certificates:
        """Certify rows against changes of the row alone, with high probability."""
        proof: Certificates = self.model_.certify(self._numbers(X), **options)
        return proof

    @property
    def classes_(self) -> Array:
        """The labels."""
        labels: Array = self.model_.classes_
        return labels

    def _numbers(self, X: Any) -> Array:
        return self._filled(self._encoded(table_columns(X)))

    def _encoded(self, columns: list[Array]) -> Array:
        pairs = zip(columns, self.codes_, strict=True)
        encoded = np.column_stack([apply_codes(column, codes) for column, codes in pairs])
        return np.asarray(np.clip(encoded, -1e300, 1e300))

    def _filled(self, numbers: Array) -> Array:
        return np.where(np.isnan(numbers), self.fill_, numbers)


def _has_probabilities(wrapped: Any) -> bool:
    return hasattr(wrapped.estimator, "predict_proba")


class Wrapped(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A model behind a treatment of its tables.

    Subclasses say what is learnt from the training table, and what the model then sees.

    Parameters
    ----------
    estimator : estimator
        Cloned and fitted on the treated table.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the treatment, then fit the model."""
        treated, target = self._learn(X, y)
        self.model_ = clone(self.estimator).fit(treated, target)
        return self

    def predict(self, X: Any) -> Array:
        """Predict labels or values."""
        prediction: Array = self.model_.predict(self._treat(X))
        return prediction

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # as above
    def predict_proba(self, X: Any) -> Array:
        """Predict class probabilities, in the order of ``classes_``."""
        shares: Array = self.model_.predict_proba(self._treat(X))
        return shares

    @property
    def classes_(self) -> Array:
        """The labels."""
        labels: Array = self.model_.classes_
        return labels

    def _learn(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Learn from the training table; what the model is fitted on."""
        return X, y

    def _treat(self, X: Any) -> Any:
        """Rows as the model sees them."""
        return X


class MedianForOutliers(Wrapped):
    """One model on columns whose outliers are replaced by the training median.

    Parameters
    ----------
    estimator : estimator
        The model.
    share : float, default=0.01
        Values beyond this quantile of the training column, on either side, are outliers.
    """

    def __init__(self, estimator: Any, share: float = 0.01) -> None:
        super().__init__(estimator)
        self.share = share

    def _learn(self, X: Any, y: Any) -> tuple[Any, Any]:
        numbers = X.select_dtypes("number")
        self.low_, self.high_ = numbers.quantile(self.share), numbers.quantile(1 - self.share)
        self.median_ = numbers.median()
        return self._treat(X), y

    def _treat(self, X: Any) -> Any:
        numbers = X[self.median_.index].astype(float)
        usual = numbers.ge(self.low_) & numbers.le(self.high_) | numbers.isna()
        return X.assign(**numbers.where(usual, self.median_, axis=1))


class RobustColumns(Wrapped):
    """One model on columns shifted by their median, scaled by their quartiles, and clipped.

    Parameters
    ----------
    estimator : estimator
        The model.
    limit : float, default=3.0
        Values are clipped to this many interquartile ranges from the median.
    """

    def __init__(self, estimator: Any, limit: float = 3.0) -> None:
        super().__init__(estimator)
        self.limit = limit

    def _learn(self, X: Any, y: Any) -> tuple[Any, Any]:
        numbers = X.select_dtypes("number")
        self.median_ = numbers.median()
        width = numbers.quantile(0.75) - numbers.quantile(0.25)
        self.width_ = width.where(width > 0, 1.0)
        return self._treat(X), y

    def _treat(self, X: Any) -> Any:
        numbers = X[self.median_.index].astype(float)
        scaled = (numbers - self.median_) / self.width_
        return X.assign(**scaled.clip(-self.limit, self.limit))


class SourceDropout(Wrapped):
    """One model trained on copies of the rows in which random sources are missing.

    Parameters
    ----------
    estimator : estimator
        The model; it must accept missing values.
    units : mapping from str to tuple of str
        The columns of each source.
    share : float, default=0.3
        The probability with which a source is missing in a copy.
    copies : int, default=2
        How many copies of each row are added.
    random_state : int, default=0
        Of the missing sources.
    """

    def __init__(
        self,
        estimator: Any,
        units: Mapping[str, tuple[str, ...]],
        share: float = 0.3,
        copies: int = 2,
        random_state: int = 0,
    ) -> None:
        super().__init__(estimator)
        self.units = units
        self.share = share
        self.copies = copies
        self.random_state = random_state

    def _learn(self, X: Any, y: Any) -> tuple[Any, Any]:
        rng = np.random.default_rng(self.random_state)
        place = np.tile(np.arange(len(X)), self.copies + 1)
        table = AttackedTable(X.iloc[place])
        changes = {}
        for columns in _columns_of(X, self.units):
            gone = rng.random(len(place)) < self.share
            gone[: len(X)] = False  # the rows themselves stay whole
            for column in columns:
                own = table.columns[column].copy()
                own[gone] = np.nan if table.is_numeric(column) else None
                changes[column] = own
        return table.table(changes), np.asarray(y)[place]


class AttackedRows(Wrapped):
    """One model trained again and again, each time with rows added that an attack made.

    Adversarial training for models without gradients: in every round the model of that round is
    evaded on some training rows, and the rewritten rows are added with their own labels.

    Parameters
    ----------
    estimator : estimator
        The model.
    units : mapping from str to tuple of str
        The columns of each source.
    radius : int, default=1
        How many sources of a row are rewritten.
    rounds : int, default=4
        How often rows are added. After one round the model has only learnt what the first attack
        looks like, and may be weaker than before.
    tolerance : float, optional
        For values: how far from the truth a prediction counts as right.
    random_state : int, default=0
        Of the attacked rows and of what is written into them.
    """

    def __init__(
        self,
        estimator: Any,
        units: Mapping[str, tuple[str, ...]],
        radius: int = 1,
        rounds: int = 4,
        tolerance: float | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(estimator)
        self.units = units
        self.radius = radius
        self.rounds = rounds
        self.tolerance = tolerance
        self.random_state = random_state

    def _learn(self, X: Any, y: Any) -> tuple[Any, Any]:
        rng, y = np.random.default_rng(self.random_state), np.asarray(y)
        honest, units = AttackedTable(X), _columns_of(X, self.units)
        table, target = honest, y
        for _ in range(self.rounds):
            model = clone(self.estimator).fit(table.table(), target)
            rows = np.sort(rng.permutation(len(X))[:ATTACKED_ROWS])
            scorer = Scorer(y[rows], self.tolerance)
            scene = Scene(honest, y, honest.take(rows), scorer, units)
            found = evade(model, scene, self.radius, rng)
            table = _below(table, AttackedTable(found.table))
            target = np.concatenate([target, y[rows]])
        return table.table(), target


def _below(table: AttackedTable, other: AttackedTable) -> AttackedTable:
    """Both tables, one below the other."""
    more = np.zeros(other.n_rows, dtype=np.int64)  # any row: all columns are written
    longer = table.take(np.concatenate([np.arange(table.n_rows), more]))
    columns = zip(table.columns, other.columns, strict=True)
    changes = {k: np.concatenate(pair) for k, pair in enumerate(columns)}
    return AttackedTable(longer.table(changes))


def _columns_of(X: TableLike, units: Mapping[str, Sequence[str]]) -> list[tuple[int, ...]]:
    return [owned_columns(units, AttackedTable(X))[name] for name in units]


def alternatives(
    units: Mapping[str, Sequence[str]],
    trusted: Sequence[str] = (),
    tolerance: float | None = None,
    estimator: Estimator = None,
    radius: int = 1,
    random_state: int = 0,
) -> dict[str, Estimator]:
    """Return models to compare, by name and not fitted; the plain one first.

    Parameters
    ----------
    units : mapping from str to sequence of str
        The columns of each source.
    trusted : sequence of str, default=()
        Columns out of an attacker's reach.
    tolerance : float, optional
        For numbers.
    estimator : estimator, optional
        The learner inside all of them; by default gradient-boosted trees, and for leaving sources
        out partita's own default.
    radius : int, default=1
        What leaving sources out is made for.
    random_state : int, default=0
        Of everything random.

    Returns
    -------
    dict
        Estimators by name.
    """
    of_values = tolerance is not None
    units, trusted, seed = dict(units), tuple(trusted), random_state
    base = estimator
    if base is None:
        base = TableBoostingRegressor() if of_values else TableBoostingClassifier()
    partition = FeaturePartitionRegressor if of_values else FeaturePartitionClassifier
    leave_out = LeaveOutRegressor if of_values else LeaveOutClassifier
    ours: dict[str, Any] = {"units": units, "trusted": trusted, "n_jobs": 1, "random_state": seed}
    return {
        PLAIN: base,
        "outliers to median": MedianForOutliers(base),
        "robust columns": RobustColumns(base),
        "source dropout": SourceDropout(base, units, random_state=seed),
        "trained on attacked rows": AttackedRows(
            base, units, tolerance=tolerance, random_state=seed
        ),
        "randomized ablation": AblatedSources(base, units, trusted, of_values, random_state=seed),
        "partita, partition": partition(estimator, **ours),
        "partita, leave-out": leave_out(estimator, radius=radius, max_models=MOST_MODELS, **ours),
    }


@dataclass(frozen=True)
class Rows:
    """The rows of a deployment, as the gallery draws them."""

    title: str
    source: str
    tables: tuple[TableLike, Array, TableLike, Array]  # X_train, y_train, X_test, y_test
    units: Mapping[str, Sequence[str]]
    trusted: Sequence[str] = field(default=())
    rare: str | None = None


def gas() -> Rows:
    """Learn from batches 1 to 3; test on later ones."""
    data, rng = load_gas_drift(), np.random.default_rng(0)
    train = rng.permutation(len(data.y_train))[:1200]
    batch = data.X_test.index.to_numpy()
    tests = [rng.permutation(np.flatnonzero(batch == number))[:300] for number in np.unique(batch)]
    test = np.sort(np.concatenate(tests))
    tables = (
        *(data.X_train.iloc[train], data.y_train[train]),
        *(data.X_test.iloc[test], data.y_test[test]),
    )
    return Rows("A gas detector of 16 ageing sensors", "sensor", tables, dict(data.units or {}))


def air() -> Rows:
    """Learn from two years; test on the fourth."""
    data, rng = load_beijing_air(station="Aotizhongxin", hours=6), np.random.default_rng(0)
    early = np.asarray(data.X_train.index < "2015-03-01")
    train = np.sort(rng.permutation(np.flatnonzero(early))[:1500])
    rng.permutation(np.flatnonzero(~early))  # the gallery's rows to choose by
    test = np.sort(rng.permutation(len(data.y_test))[:1200])
    labels = [
        np.asarray(AIR_CLASSES[np.digitize(values, AIR_LIMITS)])
        for values in (data.y_train[train], data.y_test[test])
    ]
    tables = data.X_train.iloc[train], labels[0], data.X_test.iloc[test], labels[1]
    title = "A city's air network of 12 stations"
    return Rows(title, "station", tables, dict(data.units or {}), data.trusted)


def credit() -> Rows:
    """Loans at random."""
    data = load_lending_club()
    train = np.random.default_rng(0).permutation(len(data.y_train))[:4500]
    tables = data.X_train.iloc[train], data.y_train[train], data.X_test, data.y_test
    title = "Loans, of which one in twenty goes bad"
    return Rows(title, "feed", tables, dict(data.units or {}), data.trusted, rare="bad")


DEPLOYMENTS = {"gas": gas, "air": air, "credit": credit}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = list(DEPLOYMENTS)
    parser.add_argument("--run", nargs="+", choices=names, help="attack the models of these")
    parser.add_argument("--figure", type=Path, help="a .png to draw the results into")
    given = parser.parse_args()
    for name in given.run or ():
        run(name)
    found = {name: json.loads((RESULTS / f"{name}.json").read_text()) for name in names}
    if given.figure:
        draw(found, given.figure)
    else:
        print(
            "\n\n".join(
                f"**{one['title']}.**\n\n{table_of(one).to_markdown()}" for one in found.values()
            )
        )


def attack(models: Mapping[str, Estimator], own: Rows) -> AttackTable:
    """Attack every model on the same rows; those of a rare class are drawn as often as others."""
    rng, (X_train, y_train, X_test, y_test) = np.random.default_rng(0), own.tables
    learnt = draw_rows(y_train, TRAINING_ROWS, own.rare, rng)
    chosen = draw_rows(y_test, TEST_ROWS, own.rare, rng)
    training, rows = AttackedTable(X_train), AttackedTable(X_test)
    truth, weights = y_test[chosen], None
    notes = [
        f"Learnt from {len(learnt):,} of {len(y_train):,} training rows; attacked: "
        f"{len(chosen):,} of {len(y_test):,} test rows."
    ]
    if own.rare is not None:
        _, codes, counts = np.unique(truth, return_inverse=True, return_counts=True)
        weights = 1 / counts[codes]
        notes.append(f"All shares are means over labels; {own.rare!r} is half of the rows.")
    units = list(owned_columns(own.units, training, own.trusted).values())
    scorer = Scorer(truth, weights=weights)
    scene = Scene(training.take(learnt), y_train[learnt], rows.take(chosen), scorer, units)
    lines = [{"method": name} | measure(model, scene, RADII, 0) for name, model in models.items()]
    for line in reversed(lines):
        line["fit"] /= lines[0]["fit"]
    return AttackTable(lines, RADII, tuple(notes))


def draw_rows(y: Array, most: int, rare: str | None, rng: np.random.Generator) -> Array:
    """Return positions of at most so many rows, half of them of the rare class if there is one."""
    order = rng.permutation(len(y))
    if rare is not None:
        is_rare = y[order] == rare
        half = min(most // 2, int(is_rare.sum()), int((~is_rare).sum()))
        order = np.concatenate([order[is_rare][:half], order[~is_rare][:half]])
    return np.sort(order[:most])


def run(name: str) -> None:
    started, own = time.perf_counter(), DEPLOYMENTS[name]()
    found = attack(alternatives(own.units, own.trusted), own)
    RESULTS.mkdir(parents=True, exist_ok=True)
    content = {
        "command": f"python benchmarks/alternatives.py --run {name}",
        "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}",
        "seconds": round(time.perf_counter() - started, 1),
        "title": own.title,
        "source": own.source,
        "radii": found.radii,
        "notes": found.notes,
        "rows": found.rows,
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")


def table_of(content: Mapping[str, Any]) -> AttackTable:
    return AttackTable(content["rows"], tuple(content["radii"]), tuple(content["notes"]))


def draw(found: Mapping[str, Mapping[str, Any]], file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4.6), layout="constrained")
    axes = figure.subplots(1, len(found), sharey=True)
    for ax, one in zip(axes, found.values(), strict=True):
        table_of(one).plot(ax)
        ax.set(title=one["title"], xlabel=f"{one['source']}s attacked")
        ax.get_legend().remove()
    for ax in axes[1:]:
        ax.set_ylabel("")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False
    )
    figure.savefig(file, dpi=100)


if __name__ == "__main__":
    main()
