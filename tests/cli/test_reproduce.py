"""``partita reproduce``: what there is; the tables have tests of their own."""

import json

from partita.reproduce._tables import TITLES


def test_every_table_is_listed(partita):
    code, out, _ = partita("reproduce", "--list", "--json")
    assert (code, json.loads(out)["tables"]) == (0, TITLES)
    code, out, _ = partita("reproduce", "--list")
    assert code == 0
    assert all(name in out for name in TITLES)


def test_an_unknown_table_is_one_sentence(partita, tmp_path):
    code, _, err = partita("reproduce", "99", "--out", tmp_path / "r")
    assert code == 2
    assert "99" in err
    assert err.count("\n") == 1
    assert not (tmp_path / "r").exists()
