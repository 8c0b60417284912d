"""A city's air network: PM2.5 six hours ahead from twelve stations, as a class and as a number."""

import os
from typing import Any

import numpy as np

from .._support import Array
from ..datasets import load_beijing_air
from ._answer import Answer, percent
from ._answers import MAIN, PROVEN, SINGLE
from ._deployment import Deployment
from ._study import Study, make_study
from ._tampering import after_backdoor, backdoor

STATION, HOURS = "Aotizhongxin", 6
CLASSES, LIMITS = np.array(["good", "fair", "poor", "hazardous"], dtype=object), (35, 75, 150)
TRAIN, VALID, TEST = 1500, 700, 1200
VALID_START = "2015-03-01"
SUBMODELS, GROUPS = (5, 7, 11), (6, 9)
NUMBER_SIZES = ((7, 11), (6,))
WEEK = ("2016-12-01", "2016-12-08")  # smog, in the test year
POLLUTANTS = ("PM2.5", "PM10", "SO2", "NO2", "CO", "O3")
MOST_HIJACKED = 3
SEASONS = {"spring": (3, 4, 5), "summer": (6, 7, 8), "autumn": (9, 10, 11), "winter": (12, 1, 2)}


def build(
    path: str | os.PathLike[str] | None = None, rows: int = TRAIN, as_number: bool = False
) -> Deployment:
    """Two years to learn from, the third to choose by, the fourth to test on; hours at random.

    ``rows`` are learnt from; there are fewer than the data set has, so that everything is quick.
    ``as_number``: PM2.5 within 25 micrograms, instead of one of four classes.
    """
    data = load_beijing_air(path, STATION, HOURS)
    rng = np.random.default_rng(0)
    early = np.asarray(data.X_train.index < VALID_START)

    def some(rows_of: Array, most: int) -> Array:
        return np.sort(rng.permutation(rows_of)[:most])

    train = some(np.flatnonzero(early), rows)
    valid = some(np.flatnonzero(~early), min(rows, VALID))
    test = some(np.arange(len(data.y_test)), min(rows, TEST))

    def target(values: Array) -> Array:
        return values if as_number else np.asarray(CLASSES[np.digitize(values, LIMITS)])

    what = "PM2.5 within 25 micrograms" if as_number else "the class of PM2.5"
    return Deployment(
        "air",
        "A city's air network of 12 stations",
        f"What is {what} at {STATION} in {HOURS} hours, if stations are hijacked or go silent?",
        data.X_train.iloc[train],
        target(data.y_train[train]),
        data.X_train.iloc[valid],
        target(data.y_train[valid]),
        data.X_test.iloc[test],
        target(data.y_test[test]),
        dict(data.units or {}),
        data.trusted,
        source="station",
        tolerance=data.tolerance if as_number else None,
    )


def groups(deployment: Deployment) -> tuple[str, dict[str, Array]]:
    """The test rows of each season."""
    month = deployment.X_test.index.month.to_numpy()
    return "season", {name: np.isin(month, months) for name, months in SEASONS.items()}


def outages(deployment: Deployment) -> Array:
    """Which stations were really out in which test rows: all their pollutants are missing."""
    return np.column_stack(
        [
            deployment.X_test[[f"{station} {name}" for name in POLLUTANTS]].isna().all(axis=1)
            for station in deployment.units
        ]
    )


def special(
    study: Study, path: str | os.PathLike[str] | None = None, verbose: int = 0
) -> list[Answer]:
    """Stations hijacked through all of history, and the same forecast as a number."""
    numbers = build(path, len(study.deployment.y_train), as_number=True)
    week = load_beijing_air(path, STATION, HOURS).X_test.loc[WEEK[0] : WEEK[1]]
    return [hijacked(study), as_number(make_study(numbers, *NUMBER_SIZES, verbose), week)]


def hijacked(study: Study) -> Answer:
    """One to three stations rewritten in all training rows and in the rows to predict."""
    own = study.deployment
    order = nearest_stations(own)
    lines: list[dict[str, Any]] = []
    for number in range(1, MOST_HIJACKED + 1):
        tables = backdoor(own, order[:number])
        one, _ = after_backdoor(own, study.single, tables, number)
        ensemble, broken = after_backdoor(own, study.main, tables, number)
        lines.append(
            {
                "stations": number,
                "one_model": one,
                "ensemble": ensemble,
                "proven": float(study.main.certified(number).mean()),
                "certified_changed": broken,
            }
        )
    rows = [
        [
            str(line["stations"]),
            percent(line["one_model"]),
            percent(line["ensemble"]),
            percent(line["proven"]),
            str(line["certified_changed"]),
        ]
        for line in lines
    ]
    first = lines[0]
    text = (
        f"With {order[0]} hijacked through all of history, one model is right on "
        f"{percent(first['one_model'])} of the test rows and the ensemble on "
        f"{percent(first['ensemble'])}; {percent(first['proven'])} are proven. With up to "
        f"{MOST_HIJACKED} stations hijacked, {sum(line['certified_changed'] for line in lines)} "
        "certified predictions changed."
    )
    honest = (float(study.single.right.mean()), float(study.main.right.mean()))
    return Answer(
        "hijacked",
        "What if stations were hijacked long ago?",
        text,
        ("hijacked stations", "one model", "ensemble", "proven", "certified and changed"),
        rows,
        {"lines": lines, "stations": order[:MOST_HIJACKED]},
        lambda figure: _draw_hijacked(figure, lines, honest),
        (7.2, 3.8),
    )


def nearest_stations(deployment: Deployment) -> list[str]:
    """The station of the forecast, then those whose PM2.5 goes with its own most closely."""
    columns = {name: f"{name} PM2.5" for name in deployment.units}
    related = deployment.X_train[list(columns.values())].corr()[columns[STATION]]
    return sorted(columns, key=lambda name: -related[columns[name]])


def as_number(study: Study, week: Any) -> Answer:
    """The same forecast as a number, right within a tolerance; ``week`` are rows to draw."""
    own, main = study.deployment, study.main
    assert own.tolerance is not None
    radii = range(MOST_HIJACKED + 1)
    shares = {
        one.name: [float(one.certified(radius).mean()) for radius in radii]
        for one in (main, study.other)
    }
    rows = [[name, *map(percent, line)] for name, line in shares.items()]
    single = float(study.single.right.mean())
    rows.append(["one model", percent(single), *["-"] * MOST_HIJACKED])
    low, high = main.model.interval(own.X_test, radius=own.radius)
    width = float(np.median(high - low))
    text = (
        f"Within {own.tolerance:g} micrograms, {percent(shares[main.name][0])} of the forecasts "
        f"are right ({percent(single)} with one model), and "
        f"{percent(shares[main.name][own.radius])} stay so whatever {own.sources(own.radius)} "
        f"says. In the median row, one lying station can move the forecast within a range of "
        f"{width:.0f} micrograms and no further."
    )
    return Answer(
        "number",
        "And as a number?",
        text,
        (f"within {own.tolerance:g}, r =", *map(str, radii)),
        rows,
        {"one_model": single, "curves": shares, "median_width": width, "rows": len(own.y_test)},
        lambda figure: _draw_band(figure, study, week),
        (8.0, 3.8),
    )


def _draw_band(figure: Any, study: Study, week: Any) -> None:
    own, model = study.deployment, study.main.model
    ax = figure.add_subplot()
    times = week.index + np.timedelta64(HOURS, "h")
    for radius, alpha in ((MOST_HIJACKED, 0.2), (1, 0.45)):
        low, high = model.interval(week, radius=radius) if radius <= _most(model) else (None, None)
        if low is not None:
            label = f"whatever {own.sources(radius)} say{'s' if radius == 1 else ''}"
            ax.fill_between(times, low, high, color=MAIN, alpha=alpha, linewidth=0, label=label)
    ax.plot(times, model.predict(week), color=MAIN, label=f"forecast, {HOURS} hours before")
    measured = week[f"{STATION} PM2.5"]
    ax.plot(measured.index, measured, ".", color=PROVEN, markersize=3, label="measured")
    ax.set(ylabel="PM2.5, micrograms per cubic metre", xlim=(times[0], times[-1]))
    ax.tick_params(axis="x", labelsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=4, frameon=False, fontsize="small")


def _most(model: Any) -> int:
    """The largest radius that a regressor has an interval for."""
    return int(getattr(model, "radius", (len(model.partition_) - 1) // 2))


def _draw_hijacked(figure: Any, lines: list[dict[str, Any]], honest: tuple[float, float]) -> None:
    ax = figure.add_subplot()
    places = [0, *(line["stations"] for line in lines)]
    for key, start, colour, label in (
        ("one_model", honest[0], SINGLE, "one model, fitted on the hijacked history"),
        ("ensemble", honest[1], MAIN, "ensemble, fitted on the hijacked history"),
        ("proven", honest[1], PROVEN, "proven, whatever so many stations say"),
    ):
        shares = [start, *(line[key] for line in lines)]
        ax.plot(places, [100 * share for share in shares], "o-", color=colour, label=label)
    ax.set(xlabel="hijacked stations", ylabel="% of test rows that are right", ylim=(0, 100))
    ax.set_xticks(places)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small")
