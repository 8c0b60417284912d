"""``partita.stress`` finds what 200 donors for each source find, within 2 points, at a tenth of it.

Boosted trees on digits (64 sources), gas sensors (16), loans (their feeds) and any table of your
own; 100 rows are attacked, on 2 cores. "Every one of 200 donors" copies each source from each of
200 training rows into each row. Shares are of rows right under one lying source, in %, chosen anew
for each row: lower is a stronger attack.

    python benchmarks/stress.py
    python benchmarks/stress.py --csv table.csv --target class
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from sklearn.datasets import load_digits

from partita._support import Array, Estimator, TableLike
from partita.attacks import AttackedTable, Budget, Scene, Scorer, _search, evade, owned_columns
from partita.datasets import load_gas_drift, load_lending_club
from partita.ensemble import TableBoostingClassifier
from partita.errors import PartitaError
from partita.workflow import open_training

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
        yield scene_of(csv, training.table.take_all(), training.y, None, rng)
        return
    digits = load_digits(as_frame=True)
    yield scene_of("digits", digits.data, digits.target.to_numpy(), None, rng)
    for name, load in (("gas", load_gas_drift), ("loans", load_lending_club)):
        try:
            data = load()
        except (PartitaError, OSError) as exc:
            print(f"{name}: left out ({exc})")
        else:
            yield scene_of(name, data.X_train, data.y_train, data.units, rng, data.trusted)


def scene_of(
    name: str,
    X: TableLike,
    y: Array,
    units: object,
    rng: np.random.Generator,
    trusted: Sequence[str] = (),
) -> tuple[str, Estimator, Scene]:
    """Fit on two thirds of the rows, at most 1,500, and attack some others."""
    table, order = AttackedTable(X), rng.permutation(len(y))
    learnt, rows = order[: min(1500, 2 * len(y) // 3)], order[-ROWS:]
    training = table.take(learnt)
    model = TableBoostingClassifier(random_state=SEED).fit(training.table(), y[learnt])
    owned = list(owned_columns(units, table, trusted).values())
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
