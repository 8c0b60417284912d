"""What each attack of ``partita.stress`` adds, and how near it comes to trying 200 donors.

Boosted trees on digits (64 sources), the gas sensors (16) and any table of your own; 100 rows are
attacked. "Every donor" copies each source from each of 200 training rows into each row. Lower is a
stronger attack.

    python benchmarks/stress.py
    python benchmarks/stress.py --csv table.csv --target class

Shares are of rows right under one lying source, in %, chosen anew for each row.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from sklearn.datasets import load_digits

from partita._support import Array, Estimator
from partita.attacks import AttackedTable, Budget, Scene, Scorer, _search, evade, owned_columns
from partita.datasets import load_gas_drift
from partita.errors import PartitaError
from partita.workflow import named_estimator, open_training

ROWS, DONORS, SEED = 100, 200, 0
FAULTY, EXTREME = _search.FAULTY, _search.EXTREME
SEARCHES = {  # rounds of the search: donors for each row and source, or something else
    "4 readings at random": (4,),
    "12 readings at random": (12,),
    "12 readings, 8 of them transferred": (4, 3, 3, 2),
    "faults": (FAULTY,),
    "ends of ranges, unseen texts": (EXTREME,),
    "all (what stress does)": _search.ROUNDS,
}


def tables(csv: str | None, target: str) -> Iterator[tuple[str, Estimator, Scene]]:
    """Yield a fitted model and rows to attack."""
    rng = np.random.default_rng(SEED)
    if csv is not None:
        training = open_training(csv, target)
        X, y, task = training.table.take_all(), training.y, training.task
        yield scene_of(csv, X, y, None, rng, named_estimator("hgb", task))
        return
    digits = load_digits(as_frame=True)
    model = named_estimator("hgb", _Labels())
    yield scene_of("digits", digits.data, digits.target.to_numpy(), None, rng, model)
    try:
        gas = load_gas_drift()
    except (PartitaError, OSError) as exc:
        print(f"gas: left out ({exc})")
        return
    model = named_estimator("hgb", _Labels())
    yield scene_of("gas", gas.X_train, gas.y_train, gas.units, rng, model)


class _Labels:
    """What ``named_estimator`` asks of a task."""

    name = "classification"


def scene_of(
    name: str, X: object, y: Array, units: object, rng: np.random.Generator, model: Estimator
) -> tuple[str, Estimator, Scene]:
    """Fit on two thirds of the rows, at most 1,500, and attack some others."""
    table, order = AttackedTable(X), rng.permutation(len(y))
    learnt, rows = order[: min(1500, 2 * len(y) // 3)], order[-ROWS:]
    training = table.take(learnt)
    model = model.fit(training.table(), y[learnt])
    owned = list(owned_columns(units, table).values())
    return name, model, Scene(training, y[learnt], table.take(rows), Scorer(y[rows]), owned)


def every_donor(model: Estimator, scene: Scene) -> tuple[float, int]:
    """Try each source of 200 training rows in each row: what is left, and the queries."""
    rng, rows, queries = np.random.default_rng(SEED + 1), scene.rows, 0
    donors = rng.permutation(len(scene.y))[:DONORS]
    right = scene.scorer.right(model.predict(rows.table()))
    for columns in scene.units:
        for some in np.array_split(donors, 10):
            tried = [
                {c: np.repeat(scene.training.columns[c][donor : donor + 1], rows.n_rows)
                 for c in columns}
                for donor in some
            ]  # fmt: skip
            answers = np.asarray(model.predict(rows.below(tried))).reshape(len(tried), -1)
            right &= np.all([scene.scorer.right(one) for one in answers], axis=0)
            queries += answers.size
    return scene.scorer.share(right), queries


def found_by(model: Estimator, scene: Scene, rounds: Sequence[int]) -> tuple[float, int]:
    """Search with these rounds."""
    kept, budget = _search.ROUNDS, Budget()
    _search.ROUNDS = tuple(rounds)
    try:
        found = evade(model, scene, 1, np.random.default_rng(SEED), budget)
    finally:
        _search.ROUNDS = kept
    return scene.scorer.share(found.right[1]), budget.asked


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--csv", help="a table of your own")
    parser.add_argument("--target", default="class", help="its column to predict")
    given = parser.parse_args()
    for name, model, scene in tables(given.csv, given.target):
        right = scene.scorer.share(scene.scorer.right(model.predict(scene.rows.table())))
        print(f"\n{name}: {len(scene.units)} sources, {scene.rows.n_rows} rows, right now "
              f"{100 * right:.1f} %")  # fmt: skip
        show("every one of 200 donors", partial(every_donor, model, scene))
        for text, rounds in SEARCHES.items():
            show(text, partial(found_by, model, scene, rounds))


def show(text: str, search: Callable[[], tuple[float, int]]) -> None:
    started = time.perf_counter()
    share, queries = search()
    spent = time.perf_counter() - started
    print(f"{text:<36}{100 * share:6.1f} %{queries:>12,} queries{spent:8.1f} s")


if __name__ == "__main__":
    main()
