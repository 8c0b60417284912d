"""TOML files that users write."""

import pytest

from partita import InputError
from partita._support import read_toml


def test_a_file_is_read_or_refused_by_name(tmp_path):
    file = tmp_path / "units.toml"
    with pytest.raises(InputError, match=r"^units does not exist: give a .toml file$"):
        read_toml(file, "units")
    file.write_text('trusted = ["hour"]')
    assert read_toml(file, "units") == {"trusted": ["hour"]}
    for content in (b"trusted = [", b"\xff", b"a = " + b"[" * 10_000):
        file.write_bytes(content)
        with pytest.raises(InputError, match=r"^units cannot be read as TOML: "):
            read_toml(file, "units")
