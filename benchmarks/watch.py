"""A drifted gas sensor is named alone after 7 to 47 rows; 1 of 2,000 random streams has an alarm.

    python benchmarks/watch.py [--data ../shared/data] [--out benchmarks/results/watch]

Which source contradicts the certified outcome more often than is usual, with false alarms of at
most 1 % over all sources. Two tables with real trouble, 2 shared cores, one run with one seed:

gas: 16 sensors, trained on half of the rows of batches 1 and 2; the other half is clean. Every
later batch is watched, in random orders, and clean rows in which one sensor has its values of batch
6 (rows with the same gas). False alarms: streams of rows drawn at random from the clean ones; and
100 times half of the clean rows in the order of the file, which runs through one gas after the
other.

beijing: 12 stations, the PM2.5 level of the city (four classes) in the same hour, trained on the
first year; complete hours of the second year say what is usual. Outages of the last two years
(12 hours or more without any pollutant of a station) are watched from seven days before. False
alarms: random streams, and weeks without any outage in the order of their hours.

dependent: nothing ever changes. Rows are drawn from the digits that a model was not fitted on, so
that on average each row is like any other, but in an order that repeats: the same row several
times, slow regimes (rows that most submodels get right, then harder ones), seasons, or one label
after the other; with clean rows that were drawn independently, and with clean rows in such an
order, too. Years of nightly calls with one state, and with none.

benchmarks/watch_report.py prints the tables of docs/results/watch.md from the results.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier
from partita.ensemble import TableBoostingClassifier
from partita.watch import Watcher, watch
from partita.watch._evidence import evidence
from partita.watch._rates import rates_of

LEVEL = 0.01
DRAWS, STREAM = 1000, 2000  # streams, and the rows of each
SPLITS = 100
EVERY = (1, 2, 3, 6, 12)
DAYS_BEFORE = 7
SHORTEST_OUTAGE, LONG = 12, 24  # hours
POLLUTANTS = ["PM2.5", "PM10", "SO2", "NO2", "CO", "O3"]
WEATHER = ["TEMP", "PRES", "DEWP", "RAIN", "WSPM"]


def alarms(model, usual, ballots):
    """The row of every source's alarm, the sources in the order of their alarms."""
    watcher = Watcher(model, usual, false_alarms=LEVEL)
    watcher.update(ballots)
    return {alarm.source: alarm.row for alarm in watcher.alarms}


def gas_model(folder):
    """The table, a model of half of the early rows, and the other half."""
    table = pd.read_parquet(Path(folder) / "gas_drift.parquet")
    columns = [name for name in table if name.startswith("sensor")]
    labels = table["gas"].astype(str).to_numpy()
    rng = np.random.default_rng(0)
    early = rng.permutation(np.flatnonzero(table["batch"] <= 2))
    train, clean = early[: len(early) // 2], early[len(early) // 2 :]
    model = FeaturePartitionClassifier(
        TableBoostingClassifier(), n_submodels=16, units=[name.split()[0] for name in columns]
    ).fit(table.loc[train, columns], labels[train])
    return table, columns, labels, model, clean, rng


def draw(folder, place):
    """Clean rows; from the middle on, one sensor has its values of batch 6."""
    table, columns, labels, model, clean, rng = gas_model(folder)
    half = len(clean) // 2
    usual = rates_of(model, [model.ballots(table.loc[clean[:half], columns])])
    rows, t = clean[half:], usual.sources.index("sensor8")
    later = np.flatnonzero((table["batch"] == 6).to_numpy())
    new, own = table.loc[rows, columns].copy(), [columns[k] for k in model.columns_of(t)]
    drifted = rows[half // 2 :]
    same = [rng.choice(later[labels[later] == labels[row]]) for row in drifted]
    new.loc[drifted, own] = table.loc[same, own].to_numpy()
    Path(place).write_bytes(watch(model, new, usual, false_alarms=LEVEL).png())


def draws(model, clean, n_usual, rng):
    """How many of many streams have an alarm, all rows drawn at random from clean ones."""
    false = 0
    for _ in range(DRAWS):
        usual = rates_of(model, [clean[rng.integers(0, len(clean), n_usual)]])
        false += bool(alarms(model, usual, clean[rng.integers(0, len(clean), STREAM)]))
    return {"streams": DRAWS, "rows": STREAM, "with an alarm": false}


def one_drifts(model, usual, table, columns, clean, later, labels, rng):
    """Clean rows in which one sensor has its values of later rows with the same gas."""
    found = []
    rows = clean[np.isin(labels[clean], np.unique(labels[later]))]
    for t, source in enumerate(usual.sources[:-1]):
        own = [columns[k] for k in model.columns_of(t)]
        drifted = table.loc[rows, columns].copy()
        same = [rng.choice(later[labels[later] == labels[row]]) for row in rows]
        drifted[own] = table.loc[same, own].to_numpy()
        first = alarms(model, usual, model.ballots(drifted))
        others = sorted(set(first) - {source, "all sources"})
        row = first.get(source)
        found.append({"sensor": source, "row": None if row is None else row + 1, "others": others})
    return found


def gas(folder):
    table, columns, labels, model, clean, rng = gas_model(folder)
    batch = table["batch"].to_numpy()
    ballots = model.ballots(table[columns])
    half = len(clean) // 2
    false = draws(model, ballots[clean], half, rng)
    in_order = {}
    for every in EVERY:
        found = []
        for _ in range(SPLITS):
            order = rng.permutation(clean)
            usual = rates_of(model, [ballots[order[:half]]])
            found.append(bool(alarms(model, usual, ballots[np.sort(order[half:])][::every])))
        in_order[str(every)] = int(np.sum(found))
    usual = rates_of(model, [ballots[clean]])
    batches = []
    for number in sorted(set(batch[batch > 2].tolist())):
        rows = np.flatnonzero(batch == number)
        # the median of many orders: how soon drift alone is found
        first = [alarms(model, usual, ballots[rng.permutation(rows)]) for _ in range(SPLITS)]
        in_file_order = alarms(model, usual, ballots[rows])
        batches.append(
            {
                "batch": number,
                "rows": len(rows),
                "right": float(np.mean(model.decide(ballots[rows]) == labels[rows])),
                "first": float(np.median([min(found.values()) + 1 for found in first])),
                "sensors": float(np.median([len(set(f) - {"all sources"}) for f in first])),
                "first in file order": min(in_file_order.values()) + 1,
            }
        )
    return {
        "clean rows": len(clean),
        "random": false,
        "splits": SPLITS,
        "in file order with an alarm": in_order,
        "one drifts": one_drifts(
            model, usual, table, columns, clean, np.flatnonzero(batch == 6), labels, rng
        ),
        "usual": dict(zip(usual.sources, usual.rates.tolist(), strict=True)),
        "batches": batches,
    }


def beijing_table(folder):
    """Stations' values by hour, the level of the city, and hours without any pollutant."""
    table = pd.read_parquet(Path(folder) / "beijing_air.parquet")
    time = pd.to_datetime(table[["year", "month", "day", "hour"]])
    values = POLLUTANTS + WEATHER
    wide = table.assign(time=time).pivot(index="time", columns="station", values=values)
    stations = sorted(table["station"].unique())
    city = wide["PM2.5"].median(axis=1)
    X = pd.concat({s: wide.xs(s, axis=1, level=1)[values] for s in stations}, axis=1)
    silent = {s: X[s][POLLUTANTS].isna().all(axis=1).to_numpy() for s in stations}
    X.columns = [f"{station} {value}" for station, value in X.columns]
    X = X.assign(hour=X.index.hour.astype(float), month=X.index.month.astype(float))
    known = city.notna().to_numpy()
    y = np.digitize(city.fillna(0), [35, 75, 150])
    return X, y, known, silent


def runs(mask, least):
    """Where a mask is true for so long: (start, length) each."""
    steps = np.diff(np.concatenate([[0], mask.astype(int), [0]]))
    starts, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
    return [
        (a, b - a) for a, b in zip(starts.tolist(), ends.tolist(), strict=True) if b - a >= least
    ]


def beijing(folder):
    X, y, known, silent = beijing_table(folder)
    year = np.digitize(np.arange(len(X)), [8760, 2 * 8760])
    ids = [name.rsplit(" ", 1)[0] for name in X.columns]
    train = np.flatnonzero((year == 0) & known)[::2]
    model = FeaturePartitionClassifier(
        TableBoostingClassifier(), n_submodels=12, units=ids, trusted=("hour", "month")
    ).fit(X.iloc[train], y[train])
    later = np.flatnonzero(year >= 1)
    ballots = np.full((len(X), 12, len(model.classes_)), np.nan, dtype=np.float32)
    ballots[later] = model.ballots(X.iloc[later])
    complete = np.flatnonzero((year == 1) & X.notna().all(axis=1).to_numpy())
    outages = [
        (station, start, length)
        for station, mask in silent.items()
        for start, length in runs(mask, SHORTEST_OUTAGE)
        if year[start] == 2
    ]
    quiet = np.ones(len(X), dtype=bool)  # days without any outage
    for _, start, length in outages:
        quiet[start - 24 : start + length + 24] = False
    before = 24 * DAYS_BEFORE
    windows = [
        start
        for start in range(int(np.argmax(year == 2)), len(X) - before, before)
        if quiet[start : start + before].all()
    ]
    found = {
        "outages": [],
        "every": {},
        "right": float(np.mean(model.decide(ballots[later]) == y[later])),
    }
    for every in EVERY:
        usual = rates_of(model, [ballots[complete]], every)
        false = [bool(alarms(model, usual, ballots[w : w + before])) for w in windows]
        delays = []
        for station, start, length in outages:
            first = alarms(model, usual, ballots[start - before : start + length])
            row = first.get(station)
            delays.append(None if row is None else row - before + 1)
            if every == 1:
                others = [s for s, r in first.items() if s not in (station, "all sources")]
                found["outages"].append(
                    {
                        "station": station,
                        "start": str(X.index[start]),
                        "hours": length,
                        "delay": delays[-1],
                        "others": others,
                    }
                )
        inside = [delay for delay in delays if delay is not None and delay > 0]
        found["every"][str(every)] = {
            "windows": len(windows),
            "windows with an alarm": int(np.sum(false)),
            "outages": len(outages),
            "found": len(inside),
            "before": sum(delay is not None and delay <= 0 for delay in delays),
            "median delay": float(np.median(inside)) if inside else None,
            "long outages": sum(length >= LONG for _, _, length in outages),
            "long outages found": sum(
                delay is not None and delay > 0
                for delay, (_, _, length) in zip(delays, outages, strict=True)
                if length >= LONG
            ),
        }
        if every == 1:
            found["usual"] = dict(zip(usual.sources, usual.rates.tolist(), strict=True))
    found["random"] = draws(model, ballots[complete], len(complete) // 2, np.random.default_rng(0))
    return found


def repeated(pool, n_rows, rng, times):
    """Every row several times in succession."""
    return np.repeat(rng.integers(0, len(pool.order), n_rows // times + 1), times)[:n_rows]


def regimes(pool, n_rows, rng, mean):
    """Easy and hard rows by turns, for so many rows on average."""
    hard = (rng.integers(2) + np.cumsum(rng.random(n_rows) < 1 / mean)) % 2 == 1
    return pool.draw(hard, rng)


def seasons(pool, n_rows, rng, period):
    """Half of each period easy, half of it hard; the first row may be at any place in it."""
    return pool.draw((np.arange(n_rows) + rng.integers(period)) % period < period // 2, rng)


def one_label_after_the_other(pool, n_rows, rng):
    """Rows sorted by label."""
    rows = rng.integers(0, len(pool.order), n_rows)
    return rows[np.argsort(pool.labels[rows], kind="stable")]


class Pool:
    """Ballots of rows that a model was not fitted on, the easy half and the hard half apart."""

    def __init__(self):
        X, y = load_digits(return_X_y=True)
        order = np.random.default_rng(0).permutation(len(X))
        train, held_out = order[:800], order[800:]
        self.model = FeaturePartitionClassifier(GaussianNB(), n_submodels=9).fit(X[train], y[train])
        self.ballots, self.labels = self.model.ballots(X[held_out]), y[held_out]
        self.order = np.argsort(evidence(self.model, self.ballots).score.sum(axis=1), kind="stable")

    def draw(self, hard, rng):
        half = len(self.order) // 2
        return self.order[rng.integers(0, half, len(hard)) + half * hard]


ORDERS = {
    "independent": lambda pool, n, rng: rng.integers(0, len(pool.order), n),
    "each row twice": lambda pool, n, rng: repeated(pool, n, rng, 2),
    "each row six times": lambda pool, n, rng: repeated(pool, n, rng, 6),
    "regimes of 20 rows": lambda pool, n, rng: regimes(pool, n, rng, 20),
    "regimes of 200 rows": lambda pool, n, rng: regimes(pool, n, rng, 200),
    "seasons of 24 rows": lambda pool, n, rng: seasons(pool, n, rng, 24),
    "sorted by label": one_label_after_the_other,
}
DEPENDENT_DRAWS, CLEAN = 200, 600
CLEAN_DRAWS = 100
CALLS, NIGHT, YEARS = 365, 100, 500
EVERY_DEPENDENT = (1, 6, 24, 25)


def dependent(_folder):
    """Streams with an alarm, though nothing changes, if rows depend on one another."""
    pool, rng = Pool(), np.random.default_rng(0)
    streams = {}
    for name, order in ORDERS.items():
        for clean_name in ("independent", name) if name != "independent" else (name,):
            cells = {}
            for every in EVERY_DEPENDENT:
                false = 0
                for _ in range(DEPENDENT_DRAWS):
                    # as many clean rows are used, whatever the distance between them
                    clean = ORDERS[clean_name](pool, CLEAN * every, rng)
                    usual = rates_of(pool.model, [pool.ballots[clean]], every)
                    new = pool.ballots[order(pool, STREAM, rng)]
                    false += bool(alarms(pool.model, usual, new))
                cells[str(every)] = false
            own = "independent" if clean_name == "independent" else "in the same order"
            streams.setdefault(name, {})[own] = cells
            print(name, own, cells, flush=True)
    years = {"one state": 0, "no state": 0}
    for _ in range(YEARS):
        draw = [rng.integers(0, len(pool.order), n) for n in (CLEAN, CALLS * NIGHT)]
        usual = rates_of(pool.model, [pool.ballots[draw[0]]])
        new = pool.ballots[draw[1]]
        years["one state"] += bool(alarms(pool.model, usual, new))
        nights = (new[k : k + NIGHT] for k in range(0, len(new), NIGHT))
        years["no state"] += any(alarms(pool.model, usual, night) for night in nights)
    return {
        "clean rows": CLEAN,
        "rows": STREAM,
        "streams": DEPENDENT_DRAWS,
        "with an alarm": streams,
        "years": YEARS,
        "calls": CALLS,
        "rows a call": NIGHT,
        "years with an alarm": years,
    }


def clean(_folder):
    """Clean rows in these orders of which learn_usual says that they depend on their neighbours."""
    pool, rng, found = Pool(), np.random.default_rng(0), {}
    for name, order in ORDERS.items():
        found[name] = {}
        for every in EVERY_DEPENDENT:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                for _ in range(CLEAN_DRAWS):
                    rates_of(pool.model, [pool.ballots[order(pool, CLEAN * every, rng)]], every)
            found[name][str(every)] = len(caught)
    return {"tables": CLEAN_DRAWS, "rows": CLEAN, "pointed out": found}


TABLES = {"gas": gas, "beijing": beijing, "dependent": dependent, "clean": clean}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/watch"))
    parser.add_argument("--table", choices=TABLES)
    parser.add_argument("--picture", type=Path, help="draw docs/images/watch.png, and no more")
    options = parser.parse_args()
    if options.picture is not None:
        draw(options.data, options.picture)
        return
    options.out.mkdir(parents=True, exist_ok=True)
    for name, measure in TABLES.items():
        if options.table in (None, name):
            found = measure(options.data)
            (options.out / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")
            print(json.dumps(found, indent=1), flush=True)


if __name__ == "__main__":
    main()
