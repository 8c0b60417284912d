"""Whatever stands in sources that are declared silent raises nothing and changes no bit."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_regressor
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    LeaveOutClassifier,
    LeaveOutRegressor,
)
from partita.rules import TopK
from partita.tables import open_file

NAMES = list("abcdefgh")
UNITS = {f"station {k}": NAMES[k::4] for k in range(4)}
WORDS = ["red", "blue", "green", None]


def numbers(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.normal(size=(n, len(NAMES))).round(3), columns=NAMES)


def words(n, seed):
    """The same with texts in one column and categories in another."""
    frame, rng = numbers(n, seed), np.random.default_rng(seed + 100)
    frame["b"] = pd.Series(rng.choice(WORDS, n), dtype=object)
    frame["c"] = pd.Categorical(rng.choice(WORDS[:3], n), categories=WORDS[:3])
    return frame


def labels(frame):
    return (frame["a"] + frame["d"] + frame["e"] > 0).astype(int) + (frame["h"] > 1)


def values(frame):
    return frame["a"] - frame["d"] + 2 * frame["e"]


class Together(list):
    """Submodels that score together; like networks on images they refuse what is no number."""

    classes_ = np.arange(3)

    def scores(self, X):
        cells = np.asarray(X)
        assert cells.dtype.kind in "fiu"
        assert np.isfinite(cells).all()
        return np.stack([model.predict_log_proba(cells[:, own]) for own, model in self], axis=1)


class Joint(ClassifierMixin, BaseEstimator):
    """Trains all submodels in one call."""

    def fit(self, X, y):
        raise AssertionError("fit_submodels is there")

    predict = predict_proba = fit

    def fit_submodels(self, X, y, columns, seeds):
        X = np.asarray(X)
        return Together((own, GaussianNB().fit(X[:, own], y)) for own in columns)


IMPUTED = make_pipeline(SimpleImputer(keep_empty_features=True), LogisticRegression())
ENCODED = make_pipeline(
    make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["b", "c"]),
        remainder=SimpleImputer(keep_empty_features=True),
    ),
    LogisticRegression(),
)
BOOSTING = {"max_iter": 5, "min_samples_leaf": 5}
SOURCES = {"units": UNITS}
ENSEMBLES = {
    "default": FeaturePartitionClassifier(n_submodels=4, **SOURCES),
    "shared submodels": FeaturePartitionClassifier(GaussianNB(), n_submodels=2, **SOURCES),
    "overlapping": FeaturePartitionClassifier(GaussianNB(), n_submodels=2, spread=2, **SOURCES),
    "fallback": FeaturePartitionClassifier(
        GaussianNB(),
        n_submodels=4,
        fallback=HistGradientBoostingClassifier(**BOOSTING),
        gate=1,
        **SOURCES,
    ),
    "failures vote": FeaturePartitionClassifier(
        n_submodels=4, on_failure="vote", fallback=IMPUTED, gate=1, **SOURCES
    ),
    "top k": FeaturePartitionClassifier(GaussianNB(), n_submodels=4, rule=TopK(2), **SOURCES),
    "joint": FeaturePartitionClassifier(Joint(), n_submodels=4, **SOURCES),
    "median": FeaturePartitionRegressor(n_submodels=4, **SOURCES),
    "ridge": FeaturePartitionRegressor(Ridge(), n_submodels=4, **SOURCES),
    "leave out": LeaveOutClassifier(DecisionTreeClassifier(), n_groups=4, **SOURCES),
    "leave out, trees": LeaveOutClassifier(n_groups=4, leave_out=2, **SOURCES),
    "leave out, values": LeaveOutRegressor(Ridge(), n_groups=4, **SOURCES),
    "trusted, trees": LeaveOutClassifier(n_groups=4, training="trusted", **SOURCES),
    "trusted": LeaveOutClassifier(
        HistGradientBoostingClassifier(**BOOSTING), n_groups=4, training="trusted", **SOURCES
    ),
    "trusted, imputed": LeaveOutClassifier(IMPUTED, n_groups=4, training="trusted", **SOURCES),
    "trusted, values": LeaveOutRegressor(
        HistGradientBoostingRegressor(**BOOSTING), n_groups=4, training="trusted", **SOURCES
    ),
}
WITH_WORDS = {  # their submodels read texts
    "default": ENSEMBLES["default"],
    "median": ENSEMBLES["median"],
    "leave out, trees": ENSEMBLES["leave out, trees"],
    "trusted, trees": ENSEMBLES["trusted, trees"],
}
TEST = {"numbers": numbers(6, 1), "words": words(6, 1)}


@pytest.fixture(scope="module")
def fitted():
    """Every ensemble, on numbers and, if its submodels read them, on texts."""
    models, X, texts = {}, numbers(90, 0), words(90, 0)
    for name, ensemble in ENSEMBLES.items():
        y = values(X) if is_regressor(ensemble) else labels(X)
        models[name, "numbers"] = clone(ensemble).fit(X, y)
        nameless = clone(ensemble).set_params(units=[f"station {k % 4}" for k in range(len(NAMES))])
        models[name, "array"] = nameless.fit(X.to_numpy(), y)
    for name, ensemble in WITH_WORDS.items():
        y = values(X) if is_regressor(ensemble) else labels(X)
        models[name, "words"] = clone(ensemble).fit(texts, y)
    return models


OBJECTS = [
    "x",
    "",
    "1e5",
    "\ud800",
    b"\xff",
    None,
    np.nan,
    np.inf,
    -np.inf,
    1e308,
    10**400,
    -(2**63) - 1,
    2**64 - 1,
    True,
    1j,
    Decimal("sNaN"),
    Decimal("1e999"),
    pd.NA,
    pd.NaT,
    np.datetime64("NaT"),
    datetime.date(1, 1, 1),
    datetime.timedelta(days=1),
    [1, [2]],
    {"a": {}},
    (),
    {1, 2},
    np.arange(3),
    np.zeros((2, 0)),
    object(),
    pd.DataFrame({"z": [1]}),
    float,
]
DTYPES = ["uint64", "int8", "bool", "Int64", "boolean", "string", "category", "datetime64[ns]"]


def pandas_column(rng, n):
    if rng.random() < 0.4:
        cells = pd.Series(rng.integers(0, 2, n)).astype("int64")
        return cells.astype(rng.choice(DTYPES)).to_numpy(), cells.astype(rng.choice(DTYPES))
    cells = np.empty(n, dtype=object)
    for i, k in enumerate(rng.integers(len(OBJECTS), size=n)):
        cells[i] = OBJECTS[k]
    return cells, pd.Series(cells, dtype=object)


def polars_column(rng, n):
    big = [2**63 - 1] * n
    columns = [
        pl.Series(["x"] * n),
        pl.Series([None] * n),
        pl.Series([[1, 2]] * n),
        pl.Series([{"a": 1}] * n),
        pl.Series([b"\xff"] * n),
        pl.Series(big),
        pl.Series(big, dtype=pl.UInt64),
        pl.Series([True] * n),
        pl.Series(["x"] * n, dtype=pl.Categorical),
        pl.Series(["x"] * n, dtype=pl.Enum(["x", "y"])),
        pl.Series([datetime.date(2026, 1, 1)] * n),
        pl.Series([datetime.timedelta(1)] * n),
        pl.Series([datetime.time(1)] * n),
        pl.Series([Decimal("1.5")] * n),
        pl.Series([object()] * n, dtype=pl.Object),
        pl.Series([float("inf")] * n, dtype=pl.Float32),
    ]
    return columns[rng.integers(len(columns))]


def arrow_column(rng, n):
    columns = [
        ["x"] * n,
        [None] * n,
        [[1, 2]] * n,
        [{"a": 1}] * n,
        [b"\xff"] * n,
        [2**63 - 1] * n,
        [True] * n,
        [datetime.date(2026, 1, 1)] * n,
        [datetime.datetime(2026, 1, 1)] * n,
        [datetime.timedelta(1)] * n,
        [datetime.time(1)] * n,
        [Decimal("1.5")] * n,
        [float("inf")] * n,
    ]
    columns += [pa.array(["x"] * n).dictionary_encode()]
    return pa.array(columns[rng.integers(len(columns))])


def with_hostile(frame, kind, columns, rng, silent_rows, folder):
    """The rows as a table of some kind, with anything in some columns (of some rows)."""
    n = len(frame)
    if kind in ("pandas", "rows", "objects"):
        out = frame.copy()
        for name in columns:
            cells, series = pandas_column(rng, n)
            if silent_rows is not None:
                mixed = out[name].astype(object).to_numpy().copy()
                for i in np.flatnonzero(silent_rows):
                    mixed[i] = cells[i]
                series = pd.Series(mixed, dtype=object)
            out[name] = series
        if kind == "pandas":
            return out
        rows = [[out[name].iloc[i] for name in NAMES] for i in range(n)]
        if kind == "rows":
            return rows
        array = np.empty(out.shape, dtype=object)
        for i, row in enumerate(rows):
            for j, cell in enumerate(row):
                array[i, j] = cell
        return array
    if kind == "array":
        array = frame.to_numpy(dtype=np.float64).copy()
        rows = np.ones(n, bool) if silent_rows is None else silent_rows
        for name in columns:
            odd = rng.choice([np.nan, np.inf, -np.inf, 1e308, 5e-324, -0.0], n)
            array[rows, NAMES.index(name)] = odd[rows]
        return array
    if kind == "polars":
        table = pl.from_pandas(frame)
        return table.with_columns(polars_column(rng, n).alias(name) for name in columns)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    for name in columns:
        table = table.set_column(NAMES.index(name), name, arrow_column(rng, n))
    if kind == "arrow":
        return table
    import pyarrow.parquet

    path = folder / "rows.parquet"
    pyarrow.parquet.write_table(table, path)
    return path


def answers(model, X, silent, content):
    """Everything that a model says of some rows."""
    if is_regressor(model):
        proof = model.certify(X, tolerance=1.0, silent=silent)
        more = [model.predict(X, silent=silent), *model.interval(X, 1, silent=silent)]
    elif isinstance(model.rule_, TopK):
        proof, more = model.certify(X, labels=[0, 1, 2] * 2, silent=silent), []
    else:
        proof = model.certify(X, silent=silent)
        more = [model.predict(X, silent=silent), model.predict_proba(X, silent=silent)]
    assert np.array_equal(proof.silence.units, proof.silence.units.astype(bool))
    told = [proof.prediction, proof.radius, proof.silence_radius, proof.silence.without]
    return [np.asarray(one) for one in [*told, *more]]


KINDS = ("pandas", "polars", "arrow", "rows", "objects", "array", "parquet")


def attack(fitted, kind, tries, seed, folder):
    rng, references = np.random.default_rng(seed), {}
    names = [
        key
        for key in fitted
        if (key[1] == "array") == (kind in ("rows", "objects", "array"))
        and not (kind == "parquet" and key[1] == "words")  # a file gives back no categories
        and not (kind == "objects" and key[0] == "joint")  # which refuses an array of objects
    ]
    for i in range(tries):
        name, content = names[i % len(names)]
        model = fitted[name, content]
        frame = TEST["words" if content == "words" else "numbers"]
        quiet = rng.choice(4, size=rng.integers(1, 5), replace=False)
        by_row = kind in ("pandas", "rows", "objects", "array") and rng.random() < 0.4
        by_row &= name != "joint" or kind != "pandas"  # one odd cell makes objects of the others
        rows = rng.random(len(frame)) < 0.5 if by_row else None
        if by_row:
            silent = np.zeros((len(frame), 4), dtype=bool)
            silent[np.ix_(rows, quiet)] = True
        else:
            silent = quiet.tolist() if rng.random() < 0.5 else [f"station {k}" for k in quiet]
        columns = [column for k in quiet for column in UNITS[f"station {k}"]]
        honest = with_hostile(frame, kind, [], rng, None, folder)
        key = (name, content, str(silent))
        if key not in references:
            references[key] = answers(model, opened(honest, model), silent, content)
        hostile = with_hostile(frame, kind, columns, rng, rows, folder)
        try:
            found = answers(model, opened(hostile, model), silent, content)
        except Exception as exc:
            raise AssertionError(f"{name}, {content}, {kind}, {silent}: {hostile}") from exc
        for expected, one in zip(references[key], found, strict=True):
            assert expected.tobytes() == one.tobytes(), (name, content, silent, hostile)
        if kind in ("pandas", "polars", "arrow") and not by_row and content != "array":
            lacking = hostile.drop(columns) if kind != "pandas" else hostile.drop(columns=columns)
            if len(columns) < len(NAMES):
                for expected, one in zip(
                    references[key], answers(model, lacking, silent, content), strict=True
                ):
                    assert expected.tobytes() == one.tobytes(), (name, content, silent, "absent")


def opened(X, model):
    return open_file(X).table(model.kinds_) if hasattr(X, "suffix") else X


@pytest.mark.parametrize("kind", KINDS)
def test_values_of_silent_sources_reach_nothing(fitted, kind, tmp_path):
    attack(fitted, kind, 32, 0, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_more_values_of_silent_sources_reach_nothing(fitted, kind, tmp_path):
    attack(fitted, kind, 600, 1, tmp_path)


@pytest.mark.parametrize(
    "model",
    [
        LeaveOutClassifier(ENCODED, n_groups=4, training="trusted", **SOURCES),
        FeaturePartitionClassifier(n_submodels=4, fallback=ENCODED, gate=1, **SOURCES),
    ],
    ids=["trusted", "fallback"],
)
def test_texts_of_silent_sources_reach_no_estimator_that_sees_all_columns(model):
    X, rows = words(90, 0), words(20, 1)
    clf = clone(model).fit(X, labels(X))
    expected = clf.certify(rows, silent=["station 1", "station 2"])
    other = rows.assign(
        b=pd.Series(["never seen", None] * 10, dtype=object),
        c=pd.Categorical(["red", "never seen"] * 10),
        g=["n/a", 1j] * 10,
    )
    found = clf.certify(other, silent=["station 1", "station 2"])
    assert np.array_equal(found.prediction, expected.prediction)
    assert np.array_equal(found.radius, expected.radius)
    numbers_now = other.assign(b=1, c=True)  # a type that the cells brought about
    assert (clf.certify(numbers_now, silent=["station 1", "station 2"]).radius >= 0).all()


def test_a_column_of_a_silent_source_is_not_read_from_a_file(tmp_path):
    """Rows beyond the size of a batch are read in parts."""
    X, n = numbers(90, 0), 20_000
    clf = FeaturePartitionClassifier(n_submodels=4, **SOURCES).fit(X, labels(X))
    rows = numbers(n, 1)
    rows.assign(b="n/a").to_parquet(tmp_path / "rows.parquet")
    table = open_file(tmp_path / "rows.parquet").table(clf.kinds_)
    expected = clf.certify(rows, silent=["station 1"])
    found = clf.certify(table, silent=["station 1"])
    assert np.array_equal(found.prediction, expected.prediction)
    assert np.array_equal(found.radius, expected.radius)
