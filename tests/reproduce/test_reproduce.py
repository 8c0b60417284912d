"""The paper's tables: its numbers, the runs beside them, and what is written."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from partita import InputError
from partita.baselines._ablated_model import ablate
from partita.certificates import Certificates, Counts
from partita.metrics import certified_accuracy, median_radius
from partita.reproduce import _measure as measure
from partita.reproduce import _page as page
from partita.reproduce import _work as work
from partita.reproduce import reproduce
from partita.reproduce._baseline_runs import safe_radii
from partita.reproduce._cells import Ask, Source, answered
from partita.reproduce._figures import picture
from partita.reproduce._paper import number, printed
from partita.reproduce._rows import TRANSPOSED, rows_of
from partita.reproduce._runs import Pool, Run, Setting, keep, kept, tally
from partita.reproduce._show import Block, blocks, not_run, without
from partita.reproduce._sizes import plan
from partita.reproduce._submodels import ablated_linear
from partita.reproduce._table_settings import beyond
from partita.reproduce._tables import TITLES, best_settings, names_of, table
from partita.reproduce._voting import OF_LABELS, OF_VALUES

ROOT = Path(__file__).resolve().parents[2]
PRINTED = (
    ROOT.parent / "shared" / "paper-tables"
)  # where the numbers were copied from; not part of the project
RESULTS = ROOT / "benchmarks" / "results" / "reproduce"


def smoke_run(setting):
    return plan("smoke", setting.data).runs(setting)[0]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder in which a few tables of every kind were made."""
    out = tmp_path_factory.mktemp("reproduced")
    return {name: reproduce(name, "smoke", out) for name in ("13", "4", "30", "ames")}, out


# the paper's numbers


@pytest.mark.skipif(not PRINTED.exists(), reason="the tables are not beside the project")
def test_the_numbers_are_those_that_were_copied():
    here = {
        file.name: file.read_text()
        for file in files("partita.reproduce").joinpath("paper").iterdir()
        if file.name.startswith("table")
    }
    assert here == {file.name: file.read_text() for file in PRINTED.glob("*.csv")}


@pytest.mark.parametrize(
    ("name", "sources"),
    [
        ("25", ("table25a", "table25b")),
        ("22", ("table22a", "table22b")),
        ("27", ("table27",)),
        ("12", ("table12",)),
        ("21", ("table21",)),
    ],
)
def test_every_number_of_a_table_is_asked_for_once(name, sources):
    keys = {"T", "e", "T_or_e", "radius", "method", "certificate", "dataset"}
    texts = [
        text
        for source in sources
        for line in printed(source)
        for column, text in line.items()
        if column not in keys
    ]
    assert Counter(map(number, texts)) == Counter(
        ask.paper for ask in table(name).asks if not ask.beyond
    )


def test_where_a_number_of_the_paper_stands():
    of = {(ask.quantity, ask.series, ask.x): ask for ask in table("29").asks}
    ask = of["certified accuracy in %", "FPA, median, T = 21", 3]
    assert ask.paper == 50.17
    assert ask.sources[0].setting == Setting("ames", "partition", 21, "random")
    assert (ask.sources[0].what, ask.sources[0].rule, ask.sources[0].at) == (
        "certified",
        "median",
        3,
    )
    assert of["certified accuracy in %", "RA (Jia'22b), e = 15", 5].paper == 35.49
    assert (
        of["certified accuracy in %", "T = 21, median, stretch 1.3", 2].paper == 54.95
    )  # the paper's best, beside what goes beyond


def test_settings_of_the_first_tables_are_those_the_paper_has_best():
    assert best_settings("cifar10")["run-off"].count == 115
    assert best_settings("mnist")["Jia'22b"] == Setting("mnist", "ablation", 25)
    assert [
        ask.sources[0].setting.count
        for ask in table("2").asks
        if ask.paper == 84.6 and not ask.beyond
    ] == [5]  # Ames at RA's median


def test_an_unknown_table_or_size_is_refused(tmp_path):
    with pytest.raises(InputError, match="table is '6': give one of 1, 2, 3"):
        reproduce("6")
    with pytest.raises(InputError, match="size is 'huge': give one of smoke, laptop, full"):
        reproduce("21", "huge")
    with pytest.raises(InputError, match="no table is given"):
        names_of([])
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(InputError, match=r"is a file: give a folder"):
        reproduce("21", "smoke", file)
    assert names_of(["Table 25", "FIGURE3"]) == ["25", "figure3"]
    assert names_of(["all"]) == list(TITLES)


# runs


def test_a_pool_is_what_the_metrics_say_of_all_rows():
    rng = np.random.default_rng(0)
    y, radii = rng.integers(0, 3, size=(2, 50)), rng.integers(0, 9, size=(2, 50))
    proofs = [
        Certificates(np.zeros(50, dtype=int), radius, None, Counts("columns", 9))
        for radius in radii
    ]
    found = [
        {"radii": {"rule": tally(np.where(own == 0, radius, -1))}}
        for own, radius in zip(y, radii, strict=True)
    ]
    both = Certificates(np.zeros(100, dtype=int), radii.ravel(), None, Counts("columns", 9))
    pool = Pool(found)
    assert pool.certified("rule", 3) == pytest.approx(100 * certified_accuracy(y.ravel(), both, 3))
    assert pool.deviation("rule", 3) == pytest.approx(
        100
        * np.std(
            [certified_accuracy(own, proof, 3) for own, proof in zip(y, proofs, strict=True)],
            ddof=1,
        )
    )
    assert pool.median("rule") == median_radius(y.ravel(), both) == -np.inf
    right = Certificates(np.zeros(50, dtype=int), radii[0], None, Counts("columns", 9))
    assert Pool([{"radii": {"rule": tally(radii[0])}}]).median("rule") == median_radius(
        np.zeros(50, dtype=int), right
    )


def test_a_kept_run_counts_only_for_the_same_settings(tmp_path):
    run = smoke_run(Setting("ames", "partition", 5))
    keep(tmp_path, run, {"radii": {}})
    assert kept(tmp_path, run)["radii"] == {}
    assert kept(tmp_path, Run(run.setting, {**run.details, "train_rows": 7}, run.seed)) is None
    (tmp_path / f"{run.name}.json").write_text("{half")
    assert kept(tmp_path, run) is None


@pytest.mark.parametrize("partition", ["random", "informed", "exchanged"])
def test_rows_to_learn_to_look_at_and_to_certify_are_apart(partition):
    run = smoke_run(Setting("ames_raw", "partition", 5, partition))
    rows = rows_of(run, None)
    parts = [rows.X_train.index, rows.X_test.index] + (
        [rows.reference[0].index] if rows.reference else []
    )
    together = np.concatenate(parts)
    assert len(np.unique(together)) == len(together)
    assert (rows.reference is not None) == (partition != "random")
    other = rows_of(Run(run.setting, run.details, 1), None)
    assert set(other.X_test.index) != set(rows.X_test.index)


def test_images_of_mnist_are_transposed_where_the_authors_do(monkeypatch):
    details = {"stand_in": "digits", "train_rows": 10, "test_rows": 5}
    plain = rows_of(Run(Setting("mnist", count=20, partition="strided"), details, 0), None)
    turned = rows_of(
        Run(Setting("mnist", count=TRANSPOSED[0], partition="strided"), details, 0), None
    )
    assert np.array_equal(
        turned.X_test.reshape(-1, 8, 8), plain.X_test.reshape(-1, 8, 8).transpose(0, 2, 1)
    )
    assert not np.array_equal(turned.X_test, plain.X_test)
    other = rows_of(
        Run(Setting("cifar10", count=TRANSPOSED[0], partition="strided"), details, 0), None
    )
    assert np.array_equal(other.X_test, plain.X_test)


def test_the_linear_model_says_of_ablated_rows_what_it_says_of_the_rows_themselves():
    rng = np.random.default_rng(0)
    scaled, kept_columns = rng.random((6, 5)).astype(np.float32), rng.random((4, 5)) < 0.5
    model = ablated_linear().partial_fit(rng.random((50, 10)), rng.random(50))
    slow = model.predict(ablate(scaled[:, None], kept_columns).reshape(-1, 10)).reshape(6, 4)
    assert np.allclose(model.predict_ablated(scaled, kept_columns), slow, atol=1e-5)


def test_the_stretch_is_chosen_without_the_rows_to_certify(tmp_path):
    run = smoke_run(Setting("ames_raw", "partition", 5))
    rows = rows_of(run, None)
    found = measure.measure(run, rows, tmp_path)
    blind = type(rows)(
        rows.X_train, rows.y_train, rows.X_train[:20], rows.y_train[:20] * 0, bounds=rows.bounds
    )
    assert measure.measure(run, blind, tmp_path)["chosen_stretch"] == found["chosen_stretch"]


@pytest.mark.parametrize("data", ["mnist", "weather"])
@pytest.mark.parametrize("spread", [1, 2])
def test_a_run_certifies_what_the_model_itself_does(data, spread, tmp_path):
    """Under every rule, and counting columns where sets overlap: a column that two submodels read
    may turn both."""
    run = smoke_run(Setting(data, "partition", 9, spread=spread))
    assert run.setting.spread == spread
    rows = rows_of(run, None)
    found = measure.measure(run, rows, tmp_path)["radii"]
    for name, rule in (OF_LABELS if rows.bounds is None else OF_VALUES).items():
        model = (
            measure._ensemble(run, rows, tmp_path)
            .set_params(rule=rule)
            .fit(rows.X_train, rows.y_train)
        )
        assert model.spread == spread
        within = () if rows.bounds is None else rows.bounds(rows.y_test)
        proof = model.certify(rows.X_test, **dict(zip(("lower", "upper"), within, strict=False)))
        assert found[name] == tally(safe_radii(proof, rows)), name


@pytest.mark.long
@pytest.mark.parametrize(
    ("setting", "details"),
    [
        (
            Setting("mnist", "partition", 8, "strided", patches=True),
            {
                "submodel": "network",
                "settings": {
                    "width": 8,
                    "blocks": 1,
                    "epochs": 1,
                    "flip": False,
                    "shift": 0,
                    "verbose": 0,
                },
            },
        ),
        (
            Setting("mnist", "partition", 1, "strided"),
            {
                "submodel": "network",
                "settings": {"network": "network_in_network", "epochs": 1, "verbose": 0},
            },
        ),
        (
            Setting("mnist", "partition", 3, "strided"),
            {
                "submodel": "network",
                "settings": {"network": "network_in_network", "epochs": 1, "verbose": 0},
            },
        ),
        (
            Setting("mnist", "ablation", 16),
            {
                "model": "network",
                "draws": 50,
                "settings": {"network": "network_in_network", "epochs": 1},
            },
        ),
        (
            Setting("mnist", "smoothing", 4),
            {
                "model": "network",
                "draws": 50,
                "settings": {"network": "network_in_network", "epochs": 1},
            },
        ),
    ],
    ids=["sets of pixels", "one network", "few networks", "ablation", "smoothing"],
)
def test_networks_are_run_as_the_full_size_does(setting, details, tmp_path):
    run = Run(setting, {"stand_in": "digits", "train_rows": 60, "test_rows": 10, **details}, 0)
    found = measure.measure(run, rows_of(run, None), tmp_path / "unfinished")
    assert found["rows"] == {"train": 60, "test": 10}
    assert all(sum(count for _, count in radii) == 10 for radii in found["radii"].values())
    assert (
        set(found["radii"])
        == {
            "partition": {"plurality", "run-off", *beyond("mnist")},
            "ablation": {"LF'20b", "Jia'22b"},
            "smoothing": set(),
        }[setting.method]
    )
    for shares in found.get("patches", {}).values():
        assert 0 <= shares["worst"] <= shares["best"] <= 100


def test_networks_are_left_out_where_there_is_no_gpu(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    found = reproduce("22", "full", tmp_path)
    assert {cell["not_run"] for cell in found["cells"]} == {
        "networks of this size wait for a machine with a GPU"
    }
    assert "some runs are left out: networks" in capsys.readouterr().err


def test_a_run_that_was_interrupted_goes_on_and_says_no_time_of_learning(monkeypatch, tmp_path):
    """How long it learnt before is not known, so the rest alone must not pass for the whole."""
    from partita.vision import _training as training

    settings = {"width": 8, "blocks": 1, "epochs": 3, "flip": False, "shift": 0}
    details = {
        "stand_in": "digits",
        "train_rows": 60,
        "test_rows": 10,
        "submodel": "network",
        "settings": settings,
    }
    run, whole = (
        Run(Setting("mnist", "partition", 8, "strided"), details, 0),
        training._Training.epoch,
    )
    epochs = []

    def interrupted(self, number):
        if len(epochs) == 2:
            epochs.append("interrupted")
            raise KeyboardInterrupt
        epochs.append(number)
        return whole(self, number)

    monkeypatch.setattr(training, "CHECKPOINT_EVERY", 0.0)
    monkeypatch.setattr(training._Training, "epoch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        work._one(run, tmp_path, None)
    found = work._one(run, tmp_path, None)
    assert epochs == [0, 1, "interrupted", 2]
    assert found["resumed"]
    assert not (tmp_path / "unfinished").exists()
    assert kept(tmp_path / "runs", run) == found

    def cell(what):
        ask = Ask(
            "seconds to train",
            "data",
            "FPA",
            "MNIST",
            1.0,
            (Source(run.setting, what, "plurality"),),
        )
        return answered(ask, lambda _: [run], {run.name: found})

    assert all(
        cell(f"{what}_seconds")["not_run"] == "interrupted and resumed, so not timed"
        for what in ("fit", "submodel", "row")
    )
    assert "ours" in cell("certified")


def test_votes_in_parts_are_the_votes_of_every_row(tmp_path):
    from partita.baselines import RandomizedAblationClassifier
    from partita.datasets import load_digits
    from partita.reproduce._resumable_ablation import PARTS, votes_of

    data = load_digits()
    model = RandomizedAblationClassifier(keep=16, n_select=50, n_certify=200, epochs=2).fit(
        data.X_train, data.y_train
    )
    X = data.X_test[: 2 * PARTS + 3]
    label, votes = votes_of(model, X, tmp_path)
    assert np.array_equal(label, model.predict(X))
    assert np.array_equal(votes, model.votes(X))
    assert len(np.unique(label)) > 3
    again = votes_of(None, X, tmp_path)  # all are kept: nobody is asked
    assert np.array_equal(again[0], label)
    assert np.array_equal(again[1], votes)


def test_ablation_goes_on_with_its_network_and_the_rows_it_has(monkeypatch, tmp_path):
    """All votes are of one network: with it, what is missing is asked for; without it, all is done
    anew."""
    from partita.baselines import RandomizedAblationClassifier
    from partita.reproduce import _resumable_ablation as keeping

    settings = {"network": "network_in_network", "epochs": 1}
    details = {
        "stand_in": "digits",
        "train_rows": 60,
        "test_rows": 12,
        "model": "network",
        "draws": 30,
        "settings": settings,
    }
    run, other = (
        Run(Setting("mnist", "ablation", 16), {**details, "draws": draws}, 0) for draws in (30, 31)
    )
    whole = work._one(run, tmp_path / "undisturbed", None)
    learnt, asked, votes, fit = (
        [],
        [],
        RandomizedAblationClassifier.votes,
        keeping.AblatedImageClassifier.partial_fit,
    )

    def interrupted(self, X):
        if len(asked) == 4:
            asked.append(None)
            raise KeyboardInterrupt
        asked.append(len(X))
        return votes(self, X)

    monkeypatch.setattr(RandomizedAblationClassifier, "votes", interrupted)
    monkeypatch.setattr(
        keeping.AblatedImageClassifier,
        "partial_fit",
        lambda *given: learnt.append(1) or fit(*given),
    )
    with pytest.raises(KeyboardInterrupt):
        work._one(run, tmp_path, None)
    left = tmp_path / "unfinished" / run.name
    shutil.copytree(left, tmp_path / "copy")
    found = work._one(run, tmp_path, None)
    assert (sum(learnt), sum(filter(None, asked))) == (1, 12)
    assert found["radii"] == whole["radii"]
    assert "row_seconds" not in found
    assert "row_seconds" in whole
    assert not left.exists()
    for spoil, again in ((lambda: (left / "network.pt").unlink(), run), (lambda: None, other)):
        shutil.copytree(tmp_path / "copy", tmp_path / "unfinished" / again.name)
        spoil()
        learnt.clear()
        asked[:] = [0] * 5
        work._one(again, tmp_path, None)
        assert (sum(learnt), sum(asked)) == (1, 12)


# tables


def test_a_cell_is_the_papers_number_ours_and_the_difference(results):
    found, out = results
    for name, content in found.items():
        assert json.loads((out / "smoke" / f"{name}.json").read_text()) == content
        assert (out / "smoke" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert content["stand_ins"]
        for cell in content["cells"]:
            assert ("ours" in cell) != ("not_run" in cell)
            if cell.get("difference") is not None:
                assert float(cell["difference"]) == pytest.approx(
                    float(cell["ours"]) - float(cell["paper"]), rel=1e-3, abs=0.02
                )


def test_what_is_beside_a_number_comes_from_its_runs(results):
    found, out = results
    (cell,) = [
        c
        for c in found["13"]["cells"]
        if (c["series"], c["x"], c["beyond"]) == ("random", 1, False)
    ]
    runs = [
        json.loads((out / "smoke" / "runs" / f"{cell['of'][0]}-seed{seed}.json").read_text())
        for seed in (0, 1)
    ]
    rows = [row for run in runs for row in run["radii"]["median"]]
    assert cell["ours"] == pytest.approx(
        100 * sum(n for radius, n in rows if radius >= 1) / sum(n for _, n in rows)
    )


def test_what_is_not_implemented_is_said_to_be_printed_only(results):
    told = dict(not_run(results[0]["4"]["cells"]))
    assert "BagCert" in told["printed by the paper, not implemented here"]
    assert "FPA" not in told["printed by the paper, not implemented here"]


def test_a_second_call_runs_only_what_is_missing(results, monkeypatch, capsys):
    found, out = results
    monkeypatch.setattr(measure, "measure", lambda *_: pytest.fail("it was done before"))
    assert reproduce("13", "smoke", out) == found["13"]
    assert "nothing to do" in capsys.readouterr().err
    gone = next((out / "smoke" / "runs").glob("weather-partition-*seed1.json"))
    before = gone.read_text()
    gone.unlink()
    done = []
    monkeypatch.setattr(
        measure, "measure", lambda run, *_: done.append(run.name) or json.loads(before)
    )
    reproduce("13", "smoke", out)
    assert done == [gone.stem]


def test_the_best_says_what_it_is_not_the_best_of():
    """Where some T were not run, ours is the best of fewer than the paper's: the cell, the text and
    the picture say so."""
    asked = next(
        ask
        for ask in table("figure2").asks
        if ask.series == "CIFAR10, FPA, plurality" and ask.x == 13
    )
    runs = {source.setting: smoke_run(source.setting) for source in asked.sources}
    counts = [setting.count for setting in runs]
    done = {"radii": {"plurality": [[-1, 1], [20, 3]]}}
    apart = {
        setting: Run(setting, run.details, 0) for setting, run in runs.items()
    }  # stand-ins have too few columns for them
    found = {
        run.name: done if setting.count in counts[1:3] else "no GPU"
        for setting, run in apart.items()
    }
    cell = answered(asked, lambda setting: [apart[setting]], found)
    rest = ", ".join(str(count) for count in (counts[0], *counts[3:]))
    assert (cell["ours"], cell["without"]) == (75.0, f"T = {rest}")
    assert without([cell]) == [f"CIFAR10, FPA, plurality: without T = {rest}"]
    whole = answered(asked, lambda setting: [apart[setting]], dict.fromkeys(found, done))
    assert "without" not in whole
    assert without([whole]) == []
    assert picture("title", [cell]) != picture("title", [whole])


def test_data_that_cannot_be_had_are_listed_as_not_run(tmp_path, capsys):
    found = reproduce("13", "laptop", tmp_path / "out", cache=tmp_path)
    assert all(
        "fetch the Shifts project's weather data" in cell["not_run"] for cell in found["cells"]
    )
    assert str(tmp_path) not in found["cells"][0]["not_run"]  # results are for others, too
    told = capsys.readouterr().err
    assert told.count("left out") == 1
    assert "nothing to do" in told  # and not the days it would take
    assert picture(found["title"], found["cells"]).startswith(b"\x89PNG")


def test_what_a_size_leaves_out_is_listed(tmp_path):
    cells = [
        {
            "quantity": "q",
            "over": "T",
            "series": s,
            "x": x,
            "paper": 1.0,
            "beyond": False,
            "not_run": "no",
        }
        for s in "ab"
        for x in (5, 10)
    ]
    assert not_run([*cells, {**cells[0], "series": "c", "beyond": True}]) == [
        ("no", "a; b at T = 5, 10")
    ]
    assert plan("laptop", "mnist").runs(Setting("mnist", "ablation", 45)) == []
    assert len(plan("full", "ames").runs(Setting("ames", "partition", 21))) == 10
    (ablated,), (own,) = (
        plan("full", "mnist").runs(Setting("mnist", method, 25))
        for method in ("ablation", "partition")
    )
    assert (ablated.details["test_rows"], own.details["test_rows"]) == (500, None)


HANGS = """
import time
from partita.__main__ import main
from partita.reproduce import work

keep = work.keep
work.keep = lambda *found: (keep(*found), time.sleep(600))
main()
"""  # when a first run is kept


def test_a_killed_run_goes_on(tmp_path):
    """What is finished when the process is killed is read, not done again."""
    arguments = ["reproduce", "12", "--size", "smoke", "--out", tmp_path, "--json"]
    command = [sys.executable, "-m", "partita", *arguments]
    runs = tmp_path / "smoke" / "runs"
    process = subprocess.Popen(
        [sys.executable, "-c", HANGS, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while not list(runs.glob("[!.]*.json")) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    finished = {file.name: file.stat().st_mtime_ns for file in runs.glob("[!.]*.json")}
    assert finished
    assert not (tmp_path / "smoke" / "12.json").exists()
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"{len(finished)} of them done before" in done.stderr
    assert {name: (runs / name).stat().st_mtime_ns for name in finished} == finished
    assert json.loads(done.stdout)["tables"][0]["table"] == "12"


def test_overlapping_sets_are_expected_to_take_longer():
    """Measured: every column is learnt from as often as there are overlaps, and the time follows
    that, not the number of submodels."""
    laptop = plan("laptop", "mnist")
    (plain,), (overlapping,) = (
        laptop.runs(Setting("mnist", "partition", 60, spread=spread)) for spread in (1, 6)
    )
    assert laptop.estimate(overlapping) == 6 * laptop.estimate(plain)


def test_the_time_left_follows_how_long_it_took():
    now = [0.0]
    pace = work._Pace(100.0, lambda: now[0])
    assert pace.left == 100
    now[0] = 100.0
    pace.done(50.0)
    assert 50 < pace.left < 100  # twice as slow as thought: about 100 s, cautiously


# what is shown


def test_a_block_is_cut_into_parts_that_fit():
    block = Block(
        "title",
        [f"x = {k}" for k in range(9)],
        [["series", *("1.0 / 2.0 (+1.0)" for _ in range(9))]],
    )
    parts = list(block.narrow(60))
    assert [column for part in parts for column in part.columns] == block.columns
    assert len(parts) > 1
    assert all(len(part.columns) + 1 == len(row) for part in parts for row in part.rows)
    assert list(block.narrow(1000)) == [block]
    apart = Block(
        "title",
        ["x = 0", "x = 1"],
        [["early", "1.0 / 2.0 (+1.0)", ""], ["late", "", "1.0 / 2.0 (+1.0)"]],
    )
    assert [[row[0] for row in part.rows] for part in apart.narrow(30)] == [
        ["early"],
        ["late"],
    ]  # no lines of nothing


def test_numbers_are_shown_side_by_side(results):
    (block,) = [block for block in blocks(results[0]["13"]["cells"]) if "beyond" not in block.title]
    assert block.columns == ["r = 1", "r = 3", "r = 6", "r = 9", "r = 12"]
    assert [row[0] for row in block.rows] == ["random", "spread 3"]
    assert block.rows[0][1].startswith("61.9 / ")


@pytest.mark.skipif(not RESULTS.exists(), reason="the results are not part of an installed package")
def test_the_page_of_results_is_made_from_the_files():
    assert (ROOT / "docs" / "results.md").read_text() == page.page(RESULTS)


def test_the_overview_counts_what_is_not_below_the_paper(tmp_path):
    def cell(series, paper, ours, beyond=False):
        return {
            "quantity": "q in %",
            "over": "T",
            "series": series,
            "x": 5,
            "paper": paper,
            "beyond": beyond,
        } | (
            {"not_run": "no"}
            if ours is None
            else {"ours": ours, "difference": ours - paper, "of": []}
        )

    cells = [
        cell("a", 50.0, 51.0),
        cell("b", 50.0, 48.0),
        cell("c", 0.0, 0.0),
        cell("d", 50.0, None),
    ]
    cells += [
        cell("T = 5, tournament", 50.0, 54.0, True),
        cell("T = 5, tournament, margin 1", 50.0, 10.0, True),
    ]
    content = {
        "table": "23",
        "title": "Table 23",
        "size": "full",
        "command": "c",
        "note": "",
        "seconds": 1,
        "machine": [],
        "how": [],
    }
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "23.json").write_text(
        json.dumps({**content, "resumed": True, "cells": cells})
    )
    made = page.page(tmp_path)
    assert "| Table 23 | full | 3 | 1 | 1 of 2 | -0.5 | 1 of 1 | +4.0 |" in made
    assert "`c`, more than 1 s on nothing." in made


def test_a_page_of_nothing_is_refused(tmp_path):
    with pytest.raises(InputError, match="has no results"):
        page.page(tmp_path)


@pytest.mark.long
def test_every_table_and_figure_runs(tmp_path):
    command = [
        sys.executable,
        "-W",
        "error",
        "-m",
        "partita",
        "reproduce",
        "all",
        "--size",
        "smoke",
        "--out",
        tmp_path,
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name, title in TITLES.items():
        assert title in done.stdout
        content = json.loads((tmp_path / "smoke" / f"{name}.json").read_text())
        assert any("ours" in cell for cell in content["cells"]), name
        assert (tmp_path / "smoke" / f"{name}.png").is_file()
    assert "Not run (printed by the paper, not implemented here)" in done.stdout
