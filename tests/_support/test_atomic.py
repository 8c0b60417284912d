"""Files that are written completely or not at all."""

import os
import stat

import pytest

from partita._support import open_atomic, write_atomic


def test_a_file_and_its_folder_are_made(tmp_path):
    file = tmp_path / "new" / "folder" / "file.bin"
    write_atomic(file, b"content")
    assert file.read_bytes() == b"content"
    write_atomic(file, b"other")
    assert file.read_bytes() == b"other"
    assert list(file.parent.iterdir()) == [file]


def test_nobody_sees_the_file_before_it_is_complete(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"old")
    with open_atomic(file) as out:
        out.write(b"half")
        out.flush()
        assert file.read_bytes() == b"old"
        out.write(b" and half")
    assert file.read_bytes() == b"half and half"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_file_and_nothing_else(error, tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"old")

    def fail():
        with open_atomic(file) as out:
            out.write(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_permissions_follow_the_umask_as_for_any_file(mask, tmp_path):
    before = os.umask(mask)
    try:
        write_atomic(tmp_path / "file", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o666 & ~mask
