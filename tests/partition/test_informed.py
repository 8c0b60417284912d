"""Informed partitions: which reference rows count as rows of the training table."""

import hashlib
import json
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from partita import (
    FeaturePartitionClassifier,
    Informed,
    InputError,
    SoundnessError,
    SoundnessWarning,
    store,
)
from partita.__main__ import main
from partita.partition._exchange import exchanged
from partita.partition._partition import strided_partition

RNG = np.random.default_rng(0)
UNIQUE = RNG.normal(size=(1300, 5))
SOME_TWINS = np.vstack([UNIQUE[:1260], UNIQUE[:40]])[RNG.permutation(1300)]
FEW_KINDS = RNG.integers(0, [3, 4, 2, 5, 3], size=(1300, 5))  # 360 different rows at most
TREE = DecisionTreeClassifier(max_depth=2)
WARNING = "of 300 rows of X_ref are rows of the training table"


def fit(reference, table, strict=False):
    """Fit with this reference; the targets are the same for all."""
    y = np.arange(len(table)) % 2
    informed = Informed(reference, np.arange(len(reference)) % 2)
    return FeaturePartitionClassifier(TREE, n_submodels=3, partition=informed, strict=strict).fit(
        table, y
    )


def split(table, n_overlap=0, seed=0):
    """A random reference of 300 rows and the other rows, with some rows of the reference among
    them; both are copies."""
    order = np.random.default_rng(seed).permutation(len(table))
    rest = np.concatenate([order[300:], order[:n_overlap]])
    return table[order[:300]], table[rest]


# ---- natural duplicates are no overlap ----


@pytest.mark.parametrize(
    "table", [UNIQUE, SOME_TWINS, FEW_KINDS], ids=["unique", "some twins", "few kinds"]
)
def test_a_random_split_is_no_overlap_even_if_rows_repeat(table):
    for seed in range(5):
        fit(*split(table, seed=seed), strict=True)


def test_a_table_of_texts_split_at_random_is_no_overlap():
    frame = pd.DataFrame(FEW_KINDS, columns=list("abcde")).astype(str)
    reference, table = frame[:300].reset_index(drop=True), frame[300:].reset_index(drop=True)
    y = np.arange(len(table)) % 2
    informed = Informed(reference, np.arange(300) % 2)
    FeaturePartitionClassifier(n_submodels=3, partition=informed, strict=True).fit(table, y)


def test_one_pair_of_twins_is_no_overlap():
    twin = np.vstack([UNIQUE[300:], UNIQUE[:1]])
    fit(UNIQUE[:300].copy(), twin, strict=True)


# ---- true overlaps are found ----


@pytest.mark.parametrize("share", [0.01, 0.1, 1.0])
def test_an_overlap_of_unique_rows_is_found(share):
    reference, table = split(UNIQUE, n_overlap=int(300 * share))
    with pytest.warns(SoundnessWarning, match=f"{int(300 * share)} {WARNING}"):
        fit(reference, table)
    with pytest.raises(SoundnessError, match="keep the reference rows out of X"):
        fit(reference, table, strict=True)


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_an_overlap_is_found_beside_natural_duplicates(share):
    with pytest.warns(SoundnessWarning, match=WARNING):
        fit(*split(SOME_TWINS, n_overlap=int(300 * share)))


def test_the_training_table_itself_is_found_though_all_its_rows_repeat():
    with pytest.warns(SoundnessWarning, match="1300 of 1300 rows"):
        fit(FEW_KINDS.copy(), FEW_KINDS[::-1].copy())
    polars = pl.DataFrame(FEW_KINDS, schema=list("abcde"))
    with pytest.warns(SoundnessWarning, match="1300 of 1300 rows"):
        fit(polars, polars.reverse())


# ---- provenance ----


def test_slices_of_one_array_are_told_by_their_memory():
    twice = np.vstack([FEW_KINDS[:650], FEW_KINDS[:650]])
    with pytest.warns(
        SoundnessWarning, match=r"300 of 300 rows of X_ref .*\(the two share memory\)"
    ):
        fit(FEW_KINDS[:300], FEW_KINDS)
    with pytest.warns(SoundnessWarning, match="share memory"):
        fit(FEW_KINDS[:300], FEW_KINDS[299:])
    frame = pd.DataFrame(FEW_KINDS, columns=list("abcde"))
    with pytest.warns(SoundnessWarning, match="share memory"):
        fit(frame[:300], frame)
    fit(FEW_KINDS[:300], FEW_KINDS[300:], strict=True)
    fit(twice[::2][:300], twice[1::2], strict=True)
    both = np.vstack(
        [UNIQUE[:300], UNIQUE[:30], UNIQUE[330:]]
    )  # 30 twins, each with one in either part
    fit(both[:300], both[300:], strict=True)
    with pytest.warns(SoundnessWarning, match=f"30 {WARNING}"):
        fit(both[:300].copy(), both[300:].copy())


def without_twins():
    """A frame in which 30 of the first 300 rows have a twin among the others, and no others have
    any."""
    frame = pd.DataFrame(
        np.vstack([UNIQUE[:300], UNIQUE[:30], UNIQUE[330:]]), columns=list("abcde")
    )
    return frame, frame.iloc[np.arange(300)].copy(), frame.iloc[np.arange(300, len(frame))].copy()


def test_index_labels_tell_twins_from_the_same_row():
    frame, reference, table = without_twins()
    fit(
        reference, table, strict=True
    )  # other labels: other rows, though chance would not explain 30 twins
    with pytest.warns(SoundnessWarning, match=f"30 {WARNING}"):
        fit(reference.reset_index(drop=True), table.reset_index(drop=True))
    chosen = frame.iloc[np.r_[270:300, 330:1000]].copy()
    with pytest.warns(
        SoundnessWarning, match=rf"30 {WARNING} \(both have the index label 270, for example\)"
    ):
        fit(reference, chosen)
    dates = pd.date_range("2020-01-01", periods=len(frame))
    with pytest.warns(
        SoundnessWarning, match=r"both have the index label Timestamp\('2020-09-27 00:00:00'\)"
    ):
        fit(reference.set_axis(dates[:300]), chosen.set_axis(dates[np.r_[270:300, 330:1000]]))


def test_the_first_rows_of_a_table_are_found_though_all_its_rows_repeat():
    frame = pd.DataFrame(FEW_KINDS, columns=list("abcde"))
    with pytest.warns(SoundnessWarning, match=f"300 {WARNING}"):
        fit(frame[:300].copy(), frame.copy())
    mostly_zeros = pd.DataFrame(
        (RNG.random((1300, 5)) < 0.004).astype(float), columns=list("abcde")
    )
    fit(
        mostly_zeros[:300].copy(), mostly_zeros[300:].reset_index(drop=True), strict=True
    )  # equal rows at equal places, by chance


def test_index_labels_of_another_numbering_prove_nothing():
    _, reference, table = without_twins()
    renumbered = table.reset_index(
        drop=True
    )  # its labels 0, 1, ... are those of other rows of the reference
    with pytest.warns(SoundnessWarning, match=f"30 {WARNING}, where"):
        fit(reference.sample(frac=1, random_state=0), renumbered)
    everything = pd.concat([table, reference])
    with pytest.warns(
        SoundnessWarning, match=f"300 {WARNING}, where"
    ):  # disjoint labels, and yet all of its rows
        fit(reference, everything.set_axis(np.arange(5000, 5000 + len(everything))))
    with pytest.warns(
        SoundnessWarning, match=f"30 {WARNING}, where"
    ):  # labels that are not unique tell no rows apart
        fit(reference.set_axis(["a"] * 300), table.set_axis(["b"] * len(table)))


# ---- columns, progress ----


def test_a_reference_needs_the_columns_of_the_table_in_their_order():
    frame = pd.DataFrame(UNIQUE, columns=list("abcde"))
    with pytest.raises(InputError, match="X_ref has the column 'b' where X has 'a'"):
        fit(frame.loc[:299, list("bacde")], frame[300:])
    numbered = pd.DataFrame(UNIQUE)
    with pytest.raises(InputError, match="X_ref has the column 1 where X has 0"):
        fit(numbered.loc[:299, [1, 0, 2, 3, 4]], numbered[300:])


def test_many_exchanges_show_progress_where_verbose(capsys):
    X, y = UNIQUE, np.arange(1300) % 2
    informed = Informed(X[:300], y[:300], exchanges=40)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=2, partition=informed, verbose=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(X[300:], y[300:])
    assert "partita: tried 40 of 40 exchanges" in capsys.readouterr().err
    features = [X[:, [k]] for k in range(5)]
    exchanged(strided_partition(5, 2), features, y[:, None].astype(float), 40)
    assert "tried" not in capsys.readouterr().err


# ---- targets ----


def test_whole_numbers_of_a_regression_are_values_not_labels():
    X, y = load_diabetes(return_X_y=True)
    whole = Informed(X[:150], y[:150]).information()
    assert np.array_equal(whole, Informed(X[:150], y[:150] + 0.5).information())
    letters = np.arange(390) % 26  # labels that are many, each in enough rows
    column = (letters * 7 % 26)[:, None].astype(float)  # tells them apart, but not in their order
    assert Informed(column, letters).information()[0] > 2
    assert Informed(column, letters)._target().shape == (390, 26)


# ---- on the command line ----


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cancer")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    frame = X.assign(
        id=[f"patient {k}" for k in range(len(X))], diagnosis=np.where(y, "benign", "malignant")
    )
    frame[:100].to_csv(folder / "reference.csv", index=False)
    frame[:100].to_parquet(folder / "reference.parquet", index=False)
    frame[100:350].to_csv(folder / "train.csv", index=False)
    frame[80:350].to_csv(folder / "overlap.csv", index=False)
    frame[100:350].to_parquet(folder / "train.parquet", index=False)
    frame[350:].to_parquet(folder / "test.parquet", index=False)
    (folder / "units.toml").write_text('ignore = ["id"]\ntrusted = ["mean area"]\n')
    return folder


@pytest.fixture
def partita(monkeypatch, capsys):
    """Run a command in this process; returns what it printed, or the one line that it ended
    with."""

    def run(*arguments, ok=True):
        monkeypatch.setattr(sys, "argv", ["partita", *map(str, arguments)])
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main() changes it
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.simplefilter("ignore", DeprecationWarning)
            with pytest.raises(SystemExit) as stop:
                main()
        out, err = capsys.readouterr()
        assert stop.value.code == (0 if ok else 2), err
        return (out, err) if ok else err.strip()

    return run


def options(tables, reference, out, train="train.csv"):
    """``partita fit`` with a reference."""
    given = [
        "--target",
        "diagnosis",
        "--units",
        tables / "units.toml",
        "--submodels",
        9,
        "--no-full-model",
    ]
    return ["fit", tables / train, *given, "--reference", reference, "--out", out]


def test_fit_with_a_reference_file_is_what_python_does(tables, tmp_path, partita):
    command = [*options(tables, tables / "reference.csv", tmp_path / "model"), "--exchanges", 200]
    done = subprocess.run(
        [sys.executable, "-m", "partita", *map(str, command)],
        check=True,
        capture_output=True,
        text=True,
    )
    out, err = done.stdout, done.stderr
    assert (
        "Partition: informed by 100 trusted reference rows (reference.csv, 200 exchanges)." in out
    )
    assert "partita: tried 200 of 200 exchanges" in err
    assert "warning" not in err
    frame, train = pd.read_csv(tables / "reference.csv"), pd.read_csv(tables / "train.csv")
    features = [name for name in frame if name not in ("id", "diagnosis")]
    informed = Informed(frame[features], frame["diagnosis"], exchanges=200)
    clf = FeaturePartitionClassifier(
        n_submodels=9, trusted=["mean area"], partition=informed, on_failure="vote"
    )
    model = store.load(tmp_path / "model")
    assert model.partition_ == clf.fit(train[features], train["diagnosis"]).partition_
    reference = store.manifest(tmp_path / "model")["about"]["reference"]
    digest = hashlib.sha256((tables / "reference.csv").read_bytes()).hexdigest()
    assert reference == {"name": "reference.csv", "rows": 100, "sha256": digest, "exchanges": 200}
    command = options(tables, tables / "reference.parquet", tmp_path / "other", "train.parquet")
    out, _ = partita(*command, "--exchanges", 200, "--json")
    assert json.loads(out)["reference"]["name"] == "reference.parquet"
    assert store.load(tmp_path / "other").partition_ == model.partition_
    assert (
        "certified and right" in partita("certify", tmp_path / "model", tables / "test.parquet")[0]
    )


def test_a_reference_file_that_shares_rows_is_warned_of(tables, tmp_path, partita):
    _, err = partita(*options(tables, tables / "reference.csv", tmp_path / "model", "overlap.csv"))
    assert "partita: warning: 20 of 100 rows of X_ref are rows of the training table" in err


def test_a_sweep_tries_the_partition_that_fit_will_have(tables, tmp_path, partita):
    given = [
        "--target",
        "diagnosis",
        "--units",
        tables / "units.toml",
        "--submodels",
        5,
        "--rules",
        "plurality",
        "--estimator",
        "logistic",
    ]
    more = ["--reference", tables / "reference.csv", "--exchanges", 20, "--out", tmp_path / "sweep"]
    out, err = partita("sweep", tables / "train.csv", *given, *more)
    assert "partita: tried 20 of 20 exchanges" in err
    assert f"--reference {tables / 'reference.csv'} --exchanges 20" in out.replace("\n", " ")
    assert json.loads((tmp_path / "sweep" / "sweep.json").read_text())["reference"]["rows"] == 100


def test_a_reference_file_that_does_not_fit_is_refused_in_one_sentence(tables, tmp_path, partita):
    out, place = tmp_path / "model", tmp_path / "reference.csv"
    frame = pd.read_csv(tables / "reference.csv")
    copy = shutil.copy(tables / "train.csv", tmp_path / "copy.csv")
    for reference, told in (
        (tables / "train.csv", "is the training table itself"),
        (copy, "copy.csv' is the training table itself"),
        (
            frame.drop(columns="mean area"),
            "lacks the column 'mean area', which the training table has: add it",
        ),
        (
            frame.drop(columns="diagnosis"),
            "lacks the column 'diagnosis', which the training table has: add it",
        ),
        (
            frame.assign(more=1),
            "has the column 'more', which the training table does not have: leave it out",
        ),
        (frame.assign(diagnosis="unclear"), "holds fewer than two of the training table's labels"),
        (
            frame.assign(**{"mean texture": "smooth"}),
            "row 0, column 'mean texture' holds 'smooth' where a number is needed",
        ),
        (frame[:0], "has no rows"),
        (tmp_path / "nowhere.csv", "reference"),
    ):
        if isinstance(reference, pd.DataFrame):
            reference.to_csv(place, index=False)
        given = place if isinstance(reference, pd.DataFrame) else reference
        line = partita(*options(tables, given, out), ok=False)
        assert told in line
        assert "\n" not in line
        assert line.startswith("partita: ")
        assert not out.exists()
    assert "exchanges goes with reference" in partita(
        "fit",
        tables / "train.csv",
        "--target",
        "diagnosis",
        "--exchanges",
        10,
        "--out",
        out,
        ok=False,
    )


def test_numbers_and_labels_in_the_reference_are_told_apart(tmp_path, partita):
    frame = load_diabetes(as_frame=True, scaled=False).frame
    frame[100:].to_parquet(tmp_path / "train.parquet", index=False)
    frame[:100].assign(target="many").to_parquet(tmp_path / "reference.parquet", index=False)
    given = [
        "--target",
        "target",
        "--reference",
        tmp_path / "reference.parquet",
        "--out",
        tmp_path / "model",
    ]
    line = partita("fit", tmp_path / "train.parquet", *given, ok=False)
    assert (
        "holds texts, but that of the training table numbers: give a reference with the same target"
        in line
    )
    frame[:100].assign(target=np.inf).to_parquet(tmp_path / "reference.parquet", index=False)
    assert "holds an infinity: leave out that row" in partita(
        "fit", tmp_path / "train.parquet", *given, ok=False
    )
