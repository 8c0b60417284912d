"""Broken and hostile input of every kind gets an error of ours or a right answer.

Never another exception, and no code of the input is run. ``make fuzz`` tries many more inputs than
the quick tests do, and says how many.
"""

import asyncio
import json
import os
import warnings
from collections import Counter
from pathlib import Path

import httpx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils._param_validation import InvalidParameterError

from partita import (
    FeaturePartitionClassifier,
    LeaveOutClassifier,
    PartitaError,
    certify,
    certify_collective,
    certify_patches,
    criticality,
    store,
)
from partita.attacks._findings import read_audit
from partita.baselines import ablation_radius
from partita.metrics import certified_accuracy, median_radius
from partita.partition import read_units
from partita.rules import Median, Plurality, RunOff, TopK, Tournament
from partita.selection import read_choice
from partita.serve import make_app
from partita.tables import open_file

EXAMPLES = int(os.environ.get("PARTITA_FUZZ", "30"))
TRIED: Counter[str] = Counter()
many = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES < 1000,
    database=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.function_scoped_fixture,
        HealthCheck.data_too_large,
    ],
)
OURS = (PartitaError, InvalidParameterError, NotFittedError)


@pytest.fixture(scope="module", autouse=True)
def how_many_were_tried(pytestconfig):
    """With ``make fuzz``, say at the end how many inputs there were."""
    yield
    if EXAMPLES >= 1000:
        capture = pytestconfig.pluginmanager.getplugin("capturemanager")
        with capture.global_and_fixture_disabled():
            print(
                f"\n{sum(TRIED.values()):,} inputs tried: "
                + ", ".join(f"{name} {count:,}" for name, count in sorted(TRIED.items()))
            )


numbers = st.floats() | st.integers(-(2**70), 2**70) | st.booleans()
texts = st.text(max_size=12) | st.sampled_from(
    [
        "\x00",
        "\ud800".encode("utf-8", "surrogatepass").decode("utf-8", "replace"),
        "=1+1",
        "../..",
        "nan",
    ]
)
scalars = st.none() | numbers | texts
anything = st.recursive(
    scalars | st.binary(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(texts, inner, max_size=3)
        | st.tuples(inner, inner)
    ),
    max_leaves=12,
)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=15,
)
shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
arrays = hnp.arrays(
    st.sampled_from(
        [np.float32, np.float64, np.int64, np.uint8, np.bool_, np.complex128, "U3", "M8[s]"]
    ),
    shapes,
)
ballots = hnp.arrays(
    st.sampled_from([np.float32, np.float64]),
    st.tuples(st.integers(1, 4), st.integers(1, 6), st.integers(1, 4)),
)
rules = st.sampled_from(
    [
        "plurality",
        "runoff",
        "tournament",
        Plurality(),
        RunOff(),
        RunOff(exact=True),
        Tournament(0.5),
        Median(),
        TopK(2),
    ]
)


def told(name, function, *arguments, **options):
    """Call it; None where it refuses in words of ours."""
    TRIED[name] += 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*arguments, **options)
        except OURS as exc:
            message = str(exc)
            assert message
            assert "Traceback" not in message
            return None


# ---- functions ----


@many
@given(st.one_of(ballots, arrays, anything), rules | anything)
def test_certify(array, rule):
    proof = told("certify", certify, array, rule)
    if proof is not None:
        assert proof.radius.dtype.kind == "i"
        assert len(proof.prediction) == len(proof.radius) == len(array)
        assert ((proof.radius >= -1) & (proof.radius <= proof.counts.total)).all()


@many
@given(ballots, rules, arrays | anything, st.sampled_from(["bound", "exact"]) | anything)
def test_certify_over_units(array, rule, reach, cover):
    proof = told("certify, reach", certify, array, rule, reach=reach, cover=cover)
    if proof is not None and reach is not None:
        assert (proof.radius <= len(np.asarray(reach))).all()


@many
@given(
    hnp.arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 6))) | arrays | anything,
    anything | numbers,
    anything | numbers,
)
def test_median(votes, lower, upper):
    proof = told("median", Median().certify, votes, lower, upper)
    if proof is not None:
        inside = (proof.prediction >= np.asarray(lower)) & (proof.prediction <= np.asarray(upper))
        assert ((proof.radius >= 0) == inside).all()
    told("interval", Median().interval, votes, lower)


@many
@given(ballots | arrays, st.integers(-2, 5) | anything, rules, arrays | st.none())
def test_collective(array, radius, rule, reach):
    found = told("collective", certify_collective, array, radius, rule, reach, time_limit=5)
    if found is not None:
        assert 0 <= found.changed <= len(array)
    told("criticality", criticality, array, rule, reach)


@many
@given(ballots, anything, anything | st.tuples(st.integers(-1, 4), st.integers(-1, 4)), rules)
def test_patches(array, partition, patch, rule):
    told("patches", certify_patches, array, partition, (3, 3), patch, rule)


@many
@given(
    arrays | anything | st.floats(0, 1),
    arrays | anything | st.floats(0, 1),
    anything | st.integers(1, 50),
    anything | st.integers(1, 50),
    st.sampled_from(["jia", "levine-feizi"]) | anything,
)
def test_ablation_radius(low, high, d, e, method):
    radius = told("ablation_radius", ablation_radius, low, high, d, e, method)
    if radius is not None:
        assert (np.asarray(radius) >= -1).all()
        assert (np.asarray(radius) <= d).all()


@many
@given(ballots, arrays | anything, anything)
def test_metrics(array, truth, radius):
    proof = told("certify", certify, array, "plurality")
    if proof is not None:
        told("certified_accuracy", certified_accuracy, truth, proof, radius)
        told("median_radius", median_radius, truth, proof)


@many
@given(
    st.dictionaries(
        st.sampled_from(
            [
                "n_submodels",
                "partition",
                "image_shape",
                "units",
                "spread",
                "trusted",
                "rule",
                "label_attacks",
                "classes",
                "on_failure",
                "random_state",
            ]
        ),
        anything
        | st.integers(-1, 9)
        | st.lists(st.lists(st.integers(0, 6), max_size=3), max_size=4),
        max_size=3,
    )
)
def test_settings_of_an_ensemble(options):
    X, y = load_breast_cancer(return_X_y=True)
    clf = FeaturePartitionClassifier(GaussianNB(), n_jobs=1).set_params(**options)
    fitted = told("settings", clf.fit, X[:60, :6], y[:60])
    if fitted is not None and not isinstance(fitted.rule_, TopK):
        proof = told("settings, certify", fitted.certify, X[60:64, :6])
        assert proof is None or (proof.prediction == fitted.predict(X[60:64, :6])).all()


@many
@given(arrays | anything)
def test_tables_of_any_kind(X):
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=1, n_jobs=1)
    told("tables", clf.fit, X, [0, 1])


# ---- files ----

LINES = st.lists(st.lists(texts | numbers.map(str), max_size=4).map(",".join), max_size=6).map(
    "\n".join
)


@many
@given(LINES | st.binary(max_size=200))
def test_csv(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "fuzz.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
    told("csv", _read_all, path)


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "table.parquet"
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X.iloc[:50, :4].assign(text="a", target=y[:50]).to_parquet(path)
    return path.read_bytes()


flips = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=6)


def flipped(content, places):
    changed = bytearray(content)
    for place, value in places:
        changed[place % len(changed)] = value
    return bytes(changed)


@many
@given(flips, st.integers(0, 10**6))
def test_parquet(tmp_path_factory, parquet, places, cut):
    path = tmp_path_factory.getbasetemp() / "fuzz.parquet"
    content = flipped(parquet, places)
    path.write_bytes(content[: cut % len(content)] if cut % 3 == 0 else content)
    told("parquet", _read_all, path)


def _read_all(path):
    file = open_file(path)
    table = file.table({name: file.kind(name) for name in file.names})
    return [table.take([k]) for k in range(table.n_columns)]


TOML = st.text(alphabet="abc[]=\"*?.,\n# {}'\\0", max_size=60) | st.sampled_from(
    [
        "[units]\na = ['x']",
        "trusted = 3",
        "units = 1",
        "[units]\n'a' = 3",
        "ignore = [1]",
        "[units.a]\nb = 1",
        "[units]\na = ['*']\nb = ['*']",
    ]
)


@many
@given(TOML | st.binary(max_size=60))
def test_units_file(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "fuzz.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    said = told("units.toml", read_units, path, ["x", "y", "price a"])
    if said is not None:
        assert {name for own in (said.units or {}).values() for name in own} <= {
            "x",
            "y",
            "price a",
        }


@many
@given(json_values | st.binary(max_size=60))
def test_json_files(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "fuzz.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    told("audit.json", read_audit, path)
    told("choice.json", read_choice, path)


# ---- the store ----


STORED = {
    "partition": FeaturePartitionClassifier(GaussianNB(), n_submodels=3, n_jobs=1),
    "leave-out": LeaveOutClassifier(GaussianNB(), n_groups=3, n_jobs=1),
    "masked": LeaveOutClassifier(
        DecisionTreeClassifier(max_depth=2), training="trusted", n_groups=4, n_jobs=1
    ),
}


@pytest.fixture(scope="module", params=STORED)
def stored(request, tmp_path_factory):
    """A stored model, as bytes, what it says, and a place for damaged ones."""

    class Kept(tuple):  # hypothesis would print all the bytes
        def __repr__(self):
            return "a stored model"

    X, y = load_breast_cancer(return_X_y=True)
    clf = clone(STORED[request.param]).fit(X[:100, :6], y[:100])
    place = tmp_path_factory.mktemp("store")
    path = store.save(clf, place / "model.zip")
    folder = store.save(clf, place / "model")
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    return Kept((path.read_bytes(), files, X[100:110, :6], clf.ballots(X[100:110, :6]), place))


@many
@given(flips, st.integers(0, 10**6))
def test_a_damaged_zip(stored, places, cut):
    content, _, X, ballots, place = stored
    path = place / "damaged.zip"
    damaged = flipped(content, places)
    path.write_bytes(damaged[: cut % len(damaged)] if cut % 4 == 0 else damaged)
    model = told("store, zip", store.load, path)
    if model is not None:
        assert np.array_equal(model.ballots(X), ballots)  # what loads is what was stored


@many
@given(st.integers(0, 100), flips)
def test_a_damaged_folder(stored, which, places):
    _, files, X, ballots, place = stored
    name = sorted(files)[which % len(files)]
    folder = place / "damaged"
    folder.mkdir(exist_ok=True)
    for file, content in files.items():
        (folder / file).write_bytes(flipped(content, places) if file == name else content)
    model = told("store, folder", store.load, folder)
    if model is not None and name != "manifest.json":
        assert np.array_equal(model.ballots(X), ballots)


@many
@given(st.data())
def test_a_manifest_with_other_content(stored, data):
    """Anything in any place of the manifest: refused, or a model that certifies."""
    _, files, X, _, place = stored
    manifest = json.loads(files["manifest.json"])
    at, key = manifest, None
    for _ in range(data.draw(st.integers(1, 4))):
        if key is not None and isinstance(at[key], dict | list) and at[key]:
            at = at[key]
        key = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
    at[key] = data.draw(json_values)
    folder = place / "other"
    folder.mkdir(exist_ok=True)
    for file, content in files.items():
        (folder / file).write_bytes(
            json.dumps(manifest).encode() if file == "manifest.json" else content
        )
    model = told("store, manifest", store.load, folder)
    if model is not None:
        told("store, certify", model.certify, X)


def test_a_file_that_would_run_code_is_refused(stored, tmp_path):
    """A pickle in a submodel's place, with a manifest that vouches for it."""
    import hashlib
    import pickle

    _, files, _, _, _ = stored
    ran = tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return Path.touch, (ran,)

    manifest = json.loads(files["manifest.json"])
    name = next(file for file in files if file.startswith("submodel"))
    for content in (pickle.dumps(Evil()), pickle.dumps(Evil(), protocol=0)):
        manifest["files"][name] = {
            "sha256": hashlib.sha256(content).hexdigest(),
            "bytes": len(content),
        }
        folder = tmp_path / "evil"
        folder.mkdir(exist_ok=True)
        for file, honest in files.items():
            (folder / file).write_bytes(
                {name: content, "manifest.json": json.dumps(manifest).encode()}.get(file, honest)
            )
        assert told("store, code", store.load, folder) is None
        assert not ran.exists()


# ---- the service ----


@pytest.fixture(scope="module")
def service():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    frame = X.iloc[:100, :4].assign(text=np.where(np.arange(100) % 2, "a", "b"))
    clf = FeaturePartitionClassifier(n_submodels=3, n_jobs=1, on_failure="vote").fit(frame, y[:100])
    return make_app(clf), list(frame.columns)


def ask(app, body):
    async def post():
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app, raise_app_exceptions=False), base_url="http://here"
        ) as client:
            return await client.post(
                "/certify", content=body, headers={"content-type": "application/json"}
            )

    return asyncio.run(post())


@many
@given(st.data())
def test_requests(service, data):
    app, columns = service
    row = st.fixed_dictionaries(dict.fromkeys(columns, json_values)) | st.dictionaries(
        st.sampled_from([*columns, "other"]), json_values
    )
    body = data.draw(
        st.binary(max_size=80)
        | json_values.map(json.dumps)
        | st.lists(row, max_size=3).map(lambda rows: json.dumps({"rows": rows}))
    )
    TRIED["service"] += 1
    answer = ask(app, body)
    assert answer.status_code in (200, 400, 413, 422), (body, answer.text)
    content = answer.json()
    assert ("rows" in content) == (answer.status_code == 200)
    assert "Traceback" not in answer.text
