"""``partita stress``: from files to the ranking of sources, and an exit code for pipelines."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import joblib
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

QUICK = ("--rows", 30, "--seconds", 1, "--radius", 1, "--no-compare", "--quiet")


@pytest.fixture(scope="module")
def irises(tmp_path_factory):
    folder = tmp_path_factory.mktemp("irises")
    frame = load_iris(as_frame=True).frame.rename(columns=lambda name: name.removesuffix(" (cm)"))
    frame[::2].to_csv(folder / "train.csv", index=False)
    frame[1::2].to_csv(folder / "new.csv", index=False)
    frame.to_csv(folder / "all.csv", index=False)
    (folder / "units.toml").write_text('[units]\nsepal = ["sepal*"]\npetal = ["petal*"]\n')
    model = LogisticRegression(max_iter=1000).fit(frame.iloc[::2, :4], frame.iloc[::2, 4])
    joblib.dump(model, folder / "model.joblib")
    (folder / "flowers.py").write_text(
        "import joblib\n\n\ndef load():\n    return joblib.load('model.joblib')\n"
    )
    return folder


def test_two_tables_end_in_a_ranking_of_sources(partita, irises):
    tables = (irises / "train.csv", irises / "new.csv")
    options = ("--target", "target", "--estimator", "logistic", "--units", irises / "units.toml")
    code, out, err = partita("stress", *tables, *options, *QUICK)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("Right, in % of 30 rows, when this source is bad (found)")
    assert lines[2].split()[0] == "petal"
    assert "a lower bound of the damage" in out


def test_a_model_of_ones_own_is_attacked(partita, irises, tmp_path, monkeypatch):
    monkeypatch.chdir(irises)
    options = ("--target", "target", "--model", "flowers:load", "--json", *QUICK)
    code, out, _ = partita("stress", "new.csv", *options, "--out", tmp_path / "rows.parquet")
    found = json.loads(out)
    assert code == 0
    assert found["sources"][0]["source"] == "petal length"
    assert found["comparison"] == []
    assert len(pd.read_parquet(tmp_path / "rows.parquet")) == 30 == found["rows"]


def test_one_table_alone_is_split(partita, irises):
    options = ("--target", "target", "--estimator", "logistic", "--json", *QUICK)
    code, out, _ = partita("stress", irises / "all.csv", *options)
    assert (code, json.loads(out)["rows"]) == (0, 30)


def test_a_pipeline_fails_where_one_source_does_too_much(partita, irises):
    tables = (irises / "train.csv", irises / "new.csv")
    options = ("--target", "target", "--estimator", "logistic", "--fail-under", 0.8)
    code, _, err = partita("stress", *tables, *options, *QUICK)
    assert code == 3
    assert "right under one lying source, and --fail-under asks for 80.0 %" in err


def test_a_model_behind_an_address_is_attacked(partita, irises):
    class Service(BaseHTTPRequestHandler):
        def do_POST(self):
            rows = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if any(row["petal width"] is None for row in rows):
                self.send_error(422)
                return
            answers = json.dumps([int(row["petal length"] > 2.5) for row in rows]).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answers)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        options = ("--target", "target", "--url", f"http://127.0.0.1:{server.server_port}/predict")
        code, out, _ = partita("stress", irises / "new.csv", *options, "--json", *QUICK)
        server.shutdown()
    sources = {one["source"]: one for one in json.loads(out)["sources"]}
    assert code == 0
    assert sources["petal width"]["refused"] == 30
    assert sources["petal length"]["readings"] < 0.1


def test_a_report_ranks_the_sources(partita, irises, tmp_path):
    tables = (irises / "train.csv", irises / "new.csv")
    options = ("--target", "target", "--estimator", "logistic", "--report", tmp_path / "r.html")
    code, out, _ = partita("stress", *tables, *options, *QUICK)
    assert code == 0
    assert "r.html" in out
    assert "Sources, the most harmful first" in (tmp_path / "r.html").read_text("utf-8")


def test_a_pickle_is_loaded_only_if_it_is_trusted(partita, irises, monkeypatch):
    monkeypatch.chdir(irises)
    options = ("new.csv", "--target", "target", "--model", "model.joblib", *QUICK)
    code, _, err = partita("stress", *options)
    assert (code, "runs code when it is loaded: add --trust-pickle" in err) == (2, True)
    assert partita("stress", *options, "--trust-pickle")[0] == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("new.csv", "new.csv", "new.csv"), "data names 3 tables"),
        (("new.csv", "--model", "flowers"), "model is 'flowers': give package.module:load"),
        (("new.csv", "--model", "flowers:loads"), "model 'flowers:loads' cannot be loaded"),
        (("new.csv", "--model", "flowers:load", "--url", "http://x"), "url goes without model"),
        (("new.csv", "--out", "rows.txt"), "must end in .parquet or .csv"),
    ],
)
def test_bad_input_is_refused(partita, irises, monkeypatch, given, message):
    monkeypatch.chdir(irises)
    code, _, err = partita("stress", *given, "--target", "target", *QUICK)
    assert (code, message in err) == (2, True)
