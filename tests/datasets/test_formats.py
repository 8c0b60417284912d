"""Files that are damaged or hostile, and CSV in one way of writing."""

import gzip
import io
import lzma
import math
import struct
import tarfile
import zipfile

import numpy as np
import pytest

from partita.datasets import _images
from partita.datasets._content import FetchError
from partita.datasets._formats import (
    gunzip,
    number_text,
    read_csv,
    tar_members,
    unxz,
    write_csv,
    zip_files,
    zip_member,
)
from partita.datasets._images import read_labels

from .made_data import tgz

LIMIT = 1000
BOMB = b"\0" * 5_000_000  # of zeros: 5 kB packed
FILES = {"package/a": b"first", "package/b": b"second"}


def unpack_gzip(content):
    return gunzip(content, LIMIT)


def unpack_xz(content):
    return unxz(content, LIMIT)


def unpack_tar(content, names=("package/a", "package/b"), limit=10_000):
    # of an archive, heads and padding count too
    return tar_members(content, names, 20 * limit)


def zipped(files):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return content.getvalue()


def unpack_zip(content):
    return zip_member(content, "package/a", LIMIT)


def without_content(argument):
    """Compressed files hold the time of day; test names must be the same in every process."""
    return "content" if isinstance(argument, bytes) else None


@pytest.mark.parametrize(
    ("unpack", "packed"),
    [
        (unpack_gzip, gzip.compress(b"first")),
        (unpack_xz, lzma.compress(b"first")),
        (unpack_zip, zipped(FILES)),
    ],
    ids=without_content,
)
def test_good_files(unpack, packed):
    assert unpack(packed) == b"first"


@pytest.mark.parametrize(
    ("unpack", "packed", "message"),
    [
        (unpack_gzip, gzip.compress(b"first")[:-5], "not a valid gzip file"),
        (unpack_gzip, b"first", "not a valid gzip file"),
        (unpack_xz, lzma.compress(b"first")[:-5], "not a valid xz file"),
        (unpack_xz, b"first", "not a valid xz file"),
        (unpack_zip, zipped(FILES)[:-30], "not a valid zip archive"),
        (unpack_zip, b"", "not a valid zip archive"),
        (unpack_zip, zipped({"other": b""}), "there is no file package/a in the archive"),
        (unpack_tar, tgz(FILES)[:50], r"not a valid \.tar\.gz archive"),
        (
            unpack_tar,
            gzip.compress(gzip.decompress(tgz(FILES))[:700]),
            r"not a valid \.tar\.gz archive|there is no file package/b",
        ),
        (unpack_tar, b"no archive", r"not a valid \.tar\.gz archive"),
        (unpack_tar, gzip.compress(b""), r"not a valid \.tar\.gz archive"),
        (unpack_tar, tgz({"package/a": b""}), "there is no file package/b in the archive"),
    ],
    ids=without_content,
)
def test_damaged_files_are_refused(unpack, packed, message):
    with pytest.raises(FetchError, match=message):
        unpack(packed)


@pytest.mark.parametrize(
    ("unpack", "packed"),
    [
        (unpack_gzip, gzip.compress(BOMB)),
        (unpack_xz, lzma.compress(BOMB)),
        (unpack_zip, zipped({"package/a": BOMB})),
        (unpack_tar, tgz({"package/other": BOMB})),
        (unpack_tar, tgz({"package/a": BOMB, "package/b": b""})),
    ],
    ids=without_content,
)
def test_files_that_unpack_to_too_much_are_refused(unpack, packed):
    with pytest.raises(FetchError, match=r"unpacks to more than the [\d,]+ bytes expected at most"):
        unpack(packed)


def test_a_file_of_exactly_the_limit_is_fine():
    assert len(unpack_gzip(gzip.compress(b"x" * LIMIT))) == LIMIT


# ---- hostile archives ----


def damaged(rng, content):
    """Cut off, with bytes changed, doubled or left out."""
    body = bytearray(content[: rng.integers(len(content) + 1)] if rng.random() < 0.3 else content)
    for _ in range(rng.integers(4)):
        start, length = rng.integers(len(body) + 1), rng.integers(1, 9)
        piece = body[start : start + length]
        body[start : start + length] = [rng.bytes(len(piece)), piece * 2, b""][rng.integers(3)]
    return bytes(body)


def test_whatever_is_damaged_is_read_in_bounds_or_refused_in_words():
    """4,000 cases; any other error than FetchError would end the search for a source."""
    rng = np.random.default_rng(0)
    inner = zipped(FILES)
    idx = struct.pack(">BBBBIII", 0, 0, 8, 3, 2, 2, 2) + bytes(8)
    readers = [
        (unpack_gzip, gzip.compress(b"first" * 20)),
        (unpack_xz, lzma.compress(b"first" * 20)),
        (unpack_zip, inner),
        (lambda content: zip_files(content, ["a", "b"], LIMIT), zipped({"x/i.zip": inner})),
        (unpack_tar, tgz(FILES)),
        (read_csv, b'a,"b,c"\n1,x y\n,"say ""so"""\n'),
        (lambda content: _images._read_idx(content, "idx3"), idx),
        (lambda content: read_labels(content, "labels", 10), b"[1, 2, 3, 9]"),
    ]
    refused = 0
    for reader, content in readers:
        for _ in range(500):
            try:
                reader(damaged(rng, content))
            except FetchError:
                refused += 1
    assert 1000 < refused < 4000


def test_other_members_and_odd_paths_are_skipped():
    odd = {"../../escaped": b"x", "/tmp/escaped": b"x", "package/readme.md": b"hello"}
    assert unpack_tar(tgz(odd | FILES)) == FILES
    for prefix in ("../", "package/../"):
        moved = {f"{prefix}{name}": body for name, body in FILES.items()}
        with pytest.raises(FetchError, match="there is no file package/a"):
            unpack_tar(tgz(moved))


def test_a_link_is_not_followed():
    unpacked = io.BytesIO(gzip.decompress(tgz({"package/b": b"second"})))
    with tarfile.open(fileobj=unpacked, mode="a") as archive:
        member = tarfile.TarInfo("package/a")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(member)
    with pytest.raises(FetchError, match="there is no file package/a"):
        unpack_tar(gzip.compress(unpacked.getvalue()))


def test_a_member_that_claims_to_be_larger_than_anything_is_refused():
    member = tarfile.TarInfo("package/a")
    member.size = 10**12
    with pytest.raises(FetchError, match="unpacks to more than"):
        unpack_tar(gzip.compress(member.tobuf() + b"0" * 5000))


def test_heads_about_heads_do_not_exhaust_the_stack():
    head = tarfile.TarInfo("././@LongLink")
    head.type, head.size = tarfile.GNUTYPE_LONGNAME, 5
    nested = gzip.compress((head.tobuf() + b"name".ljust(512, b"\0")) * 1000)
    with pytest.raises(FetchError, match=r"not a valid \.tar\.gz archive|there is no file"):
        unpack_tar(nested, limit=10**6)


def test_the_first_of_two_members_of_one_name_counts():
    doubled = io.BytesIO(gzip.decompress(tgz({"package/a": b"first"})))
    with tarfile.open(fileobj=doubled, mode="a") as archive:
        member = tarfile.TarInfo("package/a")
        member.size = 6
        archive.addfile(member, io.BytesIO(b"second"))
    assert unpack_tar(gzip.compress(doubled.getvalue()), ["package/a"]) == {"package/a": b"first"}


def test_named_files_are_found_in_any_folder_and_one_archive_deep():
    inner = made_zip({"deep/b.txt": b"two"})
    outer = made_zip({"folder/a.txt": b"one", "more.zip": inner, "other.txt": b"-"})
    assert zip_files(outer, ["a.txt", "b.txt"], 10_000) == {"a.txt": b"one", "b.txt": b"two"}
    with pytest.raises(FetchError, match=r"there is no file c\.txt in the archive"):
        zip_files(outer, ["c.txt"], 10_000)
    with pytest.raises(FetchError, match="there is no file"):  # two archives deep
        zip_files(made_zip({"outer.zip": outer}), ["b.txt"], 10_000)
    with pytest.raises(FetchError, match="unpacks to more than the 100 bytes"):
        zip_files(made_zip({"a.txt": b"0" * 101}), ["a.txt"], 100)
    with pytest.raises(FetchError, match="not a valid zip archive"):
        zip_files(b"text", ["a.txt"], 100)


def made_zip(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


# ---- CSV ----


def test_there_is_one_way_of_writing():
    content = write_csv(["a", "b,c"], [["1", ""], ["x y", 'say "so"']])
    assert content == b'a,"b,c"\n1,x y\n,"say ""so"""\n'
    assert read_csv(content) == {"a": ["1", ""], "b,c": ["x y", 'say "so"']}


def test_other_ways_are_read_too():
    assert read_csv(b'\xef\xbb\xbfa,b\r\n"1",2\r\n') == {"a": ["1"], "b": ["2"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a valid CSV file"),
        (b'"', "not a valid CSV file"),
        (b"\xff\xfe", "not a valid CSV file"),
        (b"a,b\n1\n", "not a valid CSV file with 2 cells in every row"),
    ],
)
def test_what_is_no_csv_is_refused(content, message):
    with pytest.raises(FetchError, match=message):
        read_csv(content)


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1"), (-0.0, "0"), (0.1, "0.1"), (1 / 3, "0.3333333333333333"), (math.nan, "")],
)
def test_a_number_is_written_as_short_as_can_be(value, text):
    assert number_text(value) == text
    assert value != value or float(text) == value
