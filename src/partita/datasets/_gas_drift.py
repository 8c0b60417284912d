"""Gas sensors that age: sixteen sensors, six gases, three years in batches.

What is known bit for bit are the numbers of batches 1 to 6, 8 and 9, as float32. Batches 7 and 10
are not used, so that files with and without them are the same table.
"""

import io
import os
from collections.abc import Mapping

import numpy as np

from .._support.optional import require
from .._support.types import Array
from ._fetch_limits import FetchError, reason
from ._known_arrays import MOST_BYTES, Arrays, KnownArrays, canonical
from ._table_data import TableData
from ._uci import UciTable
from ._unpack import zip_files

GASES = ("Ethanol", "Ethylene", "Ammonia", "Acetaldehyde", "Acetone", "Toluene")  # codes 1 to 6
BATCHES = (1, 2, 3, 4, 5, 6, 8, 9)
LAST_TO_LEARN = 3
SENSORS = tuple(f"sensor{k}" for k in range(1, 17))
MEASURES = ("DR", "|DR|", "EMAi0.001", "EMAi0.01", "EMAi0.1", "EMAd0.001", "EMAd0.01", "EMAd0.1")
COLUMNS = tuple(f"{sensor} {measure}" for sensor in SENSORS for measure in MEASURES)


def load_gas_drift(path: str | os.PathLike[str] | None = None) -> TableData:
    """Load 3,275 and 3,422 measurements by 16 ageing gas sensors; the target is one of six gases.

    Rows to learn from are batches 1 to 3, rows to certify batches 4, 5, 6, 8 and 9, months later:
    the sensors have drifted. The sensors are the units, each with eight columns.

    Parameters
    ----------
    path : path, optional
        The table as a .parquet file, or the .zip archive that UCI publishes. By default it comes
        from the folder that the environment's PARTITA_CACHE names, from the user's cache folder
        (``~/.cache/partita`` on Linux), or from ``shared/data`` beside the working directory or a
        folder above it, and is downloaded if it is in none of them.

    Returns
    -------
    TableData
        The table, with ``units``; ``y_train`` and ``y_test`` hold strings. The index of ``X_train``
        and ``X_test`` is the batch, which is not among the columns.

    Raises
    ------
    InputError
        If the file is not the table, or no source answers; the message says which file to put
        where by hand.
    MissingExtraError
        If pandas is not installed, or pyarrow for a .parquet file.

    See Also
    --------
    load_beijing_air : Stations that measure the air of a city.

    References
    ----------
    A. Vergara et al., "Chemical gas sensor drift compensation using classifier ensembles", Sensors
    and Actuators B 166, 2012. UCI Machine Learning Repository, CC BY 4.0.

    Examples
    --------
    >>> from partita.datasets import load_gas_drift
    >>> data = load_gas_drift()  # doctest: +SKIP
    >>> data.X_train.shape, len(data.units), sorted(set(data.X_test.index))  # doctest: +SKIP
    ((3275, 128), 16, [4, 5, 6, 8, 9])
    """
    arrays = GAS_DRIFT.load(path)
    pandas = require("pandas", "tables", "partita[cli]")
    index = pandas.Index(arrays["batch"].astype(np.int64), name="batch")
    X = pandas.DataFrame(arrays["X"], columns=list(COLUMNS), index=index)
    y = np.array(GASES, dtype=object)[arrays["gas"] - 1]
    learn = arrays["batch"] <= LAST_TO_LEARN
    return TableData(
        "gas_drift",
        X[learn],
        y[learn],
        X[~learn],
        y[~learn],
        "the gas",
        units={sensor: tuple(f"{sensor} {measure}" for measure in MEASURES) for sensor in SENSORS},
        sha256=dict(GAS_DRIFT.known.sha256),
    )


def _from_parquet(content: bytes) -> Arrays:
    purpose = "reading the gas sensors' table from Parquet"
    pyarrow = require("pyarrow", purpose, "partita[cli]")
    parquet = require("pyarrow.parquet", purpose, "partita[cli]")
    try:
        table = parquet.read_table(io.BytesIO(content))
        code_of = {gas: code for code, gas in enumerate(GASES, start=1)}
        codes = [code_of[gas] for gas in table.column("gas").to_pylist()]
        values = np.column_stack([table.column(name).to_numpy() for name in COLUMNS])
        return _arrays(values, np.array(codes), table.column("batch").to_numpy())
    except (OSError, ValueError, KeyError, pyarrow.ArrowException) as exc:
        raise FetchError(f"not a Parquet file of the gas sensors: {reason(exc)}") from exc


def _from_zip(content: bytes) -> Arrays:
    """UCI's archive: a text file per batch, with ``code 1:value 2:value`` in a line."""
    files = zip_files(content, [f"batch{number}.dat" for number in BATCHES], MOST_BYTES)
    parts = [_read_batch(files[f"batch{number}.dat"]) for number in BATCHES]
    sizes = [len(codes) for _, codes in parts]
    values, codes = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _arrays(values, codes, np.repeat(BATCHES, sizes))


def _read_batch(content: bytes) -> tuple[Array, Array]:
    try:
        lines = [line.split() for line in content.decode("ascii").splitlines() if line.strip()]
        # in some versions the concentration follows the code, after a semicolon
        codes = [int(line[0].partition(";")[0]) for line in lines]
        values = [[float(cell.partition(":")[2]) for cell in line[1:]] for line in lines]
        return np.array(values, dtype=np.float64).reshape(len(lines), len(COLUMNS)), np.array(codes)
    except (ValueError, IndexError) as exc:
        raise FetchError(f"not a batch of measurements: {reason(exc)}") from exc


def _arrays(values: Array, codes: Array, batch: Array) -> Mapping[str, Array]:
    return {"X": canonical(values), "gas": codes.astype(np.uint8), "batch": batch.astype(np.uint8)}


GAS_DRIFT = UciTable(
    KnownArrays(
        "gas_drift",
        {
            "X": "7c93201c5c360a204bc9ca5d419046b1504fbd7ec22c3b0730a8933860bd434c",
            "gas": "2badfdf3b36d93ffdfe5b98339b2971decf678579351b95dd41200ca8a31ec27",
            "batch": "4aee44022683f8e22755913a05724126ae05bacc115b1eedb26fe8a9f9f3f716",
        },
    ),
    "the table of 16 gas sensors",
    224,
    "gas_drift.parquet",
    "gas+sensor+array+drift+dataset.zip",
    _from_parquet,
    _from_zip,
)
