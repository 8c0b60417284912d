"""``partita report``."""

from partita import store


def test_a_sweep_of_something_else_is_refused(partita, cancer, model, numbers, tmp_path):
    command = [
        "sweep",
        numbers / "train.parquet",
        "--target",
        "target",
        "--submodels",
        "3",
        "--relative",
        "0.4",
        "--stretches",
        "1",
    ]
    assert partita(*command, "--out", tmp_path / "s")[0] == 0
    code, _, err = partita(
        "report",
        model,
        cancer / "test.parquet",
        "--sweep",
        tmp_path / "s",
        "--out",
        tmp_path / "r.html",
    )
    assert (
        code,
        "sweep is about the target 'target', but the model predicts 'diagnosis'" in err,
    ) == (2, True)
    (tmp_path / "odd.json").write_text(
        '{"held_out": 7, "target": "y", "settings": [{"submodels": 3, "options": {"rule": "x"}, '
        '"curve": [5, 4]}]}'
    )
    code, _, err = partita(
        "report",
        model,
        cancer / "test.parquet",
        "--sweep",
        tmp_path / "odd.json",
        "--out",
        tmp_path / "r.html",
    )
    assert (code, "is not a choice.json" in err) == (2, True)


def test_a_model_that_is_nearly_a_constant_is_warned_of(partita, constant, digits, tmp_path):
    assert partita("report", constant, digits / "new.csv", "--out", tmp_path / "r.html")[0] == 0
    assert "nearly a constant" in (tmp_path / "r.html").read_text()
    assert "nearly a constant" in store.manifest(constant)["about"]["quality"]["warnings"][0]
