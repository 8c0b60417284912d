"""``partita audit``: exit code 0 where every certificate holds, 1 where one does not."""

import json

from partita.attacks._findings import Audit, Check


def test_a_sound_model_passes(partita, cancer, model, tmp_path):
    options = ("--attacks", "evasion", "--rows", 10, "--most", 1, "--quiet")
    code, out, err = partita(
        "audit", model, cancer / "test.parquet", *options, "--out", tmp_path / "a.json"
    )
    assert (code, err) == (0, "")
    assert "Passed: no certified prediction changed." in out
    assert "The training data was not attacked: add --training FILE to attack it too." in out
    assert json.loads((tmp_path / "a.json").read_text())["passed"] is True


def test_what_broke_is_written_even_if_nobody_asked(partita, cancer, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed = Audit("units", [], [Check("refitting gives the same model", "it does not")])
    monkeypatch.setattr("partita.attacks.audit_file", lambda *arguments, **settings: failed)
    options = ("--attacks", "evasion", "--rows", 10, "--most", 1, "--quiet")
    code, out, _ = partita("audit", model, cancer / "test.parquet", *options)
    assert code == 1
    assert "FAILED: do not rely on this model's radii." in out
    assert (tmp_path / "partita-audit.json").is_file()


def test_the_output_must_be_json(partita, cancer, model, tmp_path):
    code, _, err = partita("audit", model, cancer / "test.parquet", "--out", tmp_path / "a.txt")
    assert (code, "must end in .json" in err) == (2, True)
