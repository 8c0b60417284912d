"""Every command takes tables from URLs and from standard input."""

import http.server
import io
import json
import signal
import subprocess
import sys
import tempfile
import threading
import time

import pytest
from sklearn.datasets import load_wine

from partita import store
from partita.tables import sha256_of

FIT = ("--target", "target", "--submodels", "3", "--estimator", "logistic")


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wine")
    frame = load_wine(as_frame=True).frame.iloc[:, [0, 1, 6, 9, 12, 13]]
    frame[::2].to_csv(folder / "train.csv", index=False)
    frame[::2].to_csv(folder / "train_de.csv.gz", index=False, sep=";", decimal=",")
    frame[::2].to_parquet(folder / "train.parquet", index=False)
    frame[1::2].to_csv(folder / "new data.csv", index=False)
    return folder


class Handler(http.server.SimpleHTTPRequestHandler):
    """The files of a folder, and one that never ends."""

    def do_GET(self):
        if "slow" not in self.path:
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Length", "100000")
        self.end_headers()
        self.wfile.write(b"a,y\n1,2\n")
        self.wfile.flush()
        self.server.requested.set()
        self.server.stopping.wait(30)
        self.close_connection = True

    def log_message(self, *_):
        pass


@pytest.fixture
def server(wine):
    def handler(*arguments):
        return Handler(*arguments, directory=str(wine))

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as found:
        found.requested, found.stopping = threading.Event(), threading.Event()
        found.url = f"http://127.0.0.1:{found.server_port}"
        threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True).start()
        yield found
        found.stopping.set()
        found.shutdown()


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Where copies go; nothing stays behind."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    for proxy in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    yield folder
    assert not list(folder.iterdir())


def hold(monkeypatch, content):
    """Let standard input hold some bytes."""
    stream = None if content is None else io.TextIOWrapper(io.BytesIO(content))
    monkeypatch.setattr(sys, "stdin", stream)


@pytest.mark.long
def test_every_command_takes_urls(partita, server, wine, tmp_path):
    model, url = tmp_path / "m", server.url
    code, _, err = partita(
        "fit", f"{url}/train_de.csv.gz", *FIT, "--sep", ";", "--decimal", ",", "--out", model
    )
    assert code == 0, err
    known = store.manifest(model)["about"]["data"]
    assert (known["name"], known["sha256"]) == (
        "train_de.csv.gz",
        sha256_of(wine / "train_de.csv.gz"),
    )
    new = (f"{url}/new%20data.csv", "--sep", ",", "--decimal", ".")
    training = ("--training", f"{url}/train_de.csv.gz")
    few = ("--rows", 3, "--attacks", "poisoning")
    one_rule = ("--rules", "plurality")
    for arguments in (
        ("certify", model, *new, "--out", tmp_path / "c.csv"),
        ("report", model, *new, "--out", tmp_path / "r.html"),
        ("audit", model, *new, *training, *few),
        ("sweep", f"{url}/train.parquet", *FIT, *one_rule, "--out", tmp_path / "s"),
    ):
        code, _, err = partita(*arguments)
        assert code == 0, err
    local = (wine / "new data.csv", "--sep", ",", "--decimal", ".")
    assert partita("certify", model, *local, "--out", tmp_path / "again.csv")[0] == 0
    assert (tmp_path / "c.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()


def test_a_cluster_needs_a_path_that_all_workers_see(partita, server, tmp_path):
    for data in (f"{server.url}/train.parquet", "-"):
        code, _, err = partita("fit", data, *FIT, "--cluster", "local", "--out", tmp_path / "m")
        assert code == 2
        assert "with --cluster give the path of a Parquet file or folder" in err


@pytest.mark.long
def test_an_interrupted_download_leaves_nothing_behind(server, temporary, tmp_path):
    arguments = ["fit", f"{server.url}/slow.csv", *FIT, "--out", tmp_path / "m"]
    command = [sys.executable, "-m", "partita", *map(str, arguments)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert server.requested.wait(60)
        while not [file for file in temporary.rglob("slow.csv") if file.is_file()]:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "partita: interrupted; nothing is half-written\n"
    assert not list(temporary.iterdir())


def test_standard_input_is_a_table(partita, monkeypatch, wine, tmp_path):
    model, train = tmp_path / "m", (wine / "train.csv").read_bytes()
    for arguments in (
        ("fit", "-", *FIT, "--out", model),
        ("sweep", "-", *FIT, "--rules", "plurality", "--out", tmp_path / "s"),
    ):
        hold(monkeypatch, train)
        code, _, err = partita(*arguments)
        assert code == 0, err
    known = store.manifest(model)["about"]["data"]
    assert (known["name"], known["sha256"]) == ("stdin.csv", sha256_of(wine / "train.csv"))
    hold(monkeypatch, (wine / "new data.csv").read_bytes())
    code, out, err = partita("certify", model, "-", "--out", tmp_path / "c.csv", "--json")
    assert code == 0, err
    assert json.loads(out)["rows"] == 89
    assert partita("certify", model, wine / "new data.csv", "--out", tmp_path / "again.csv")[0] == 0
    assert (tmp_path / "c.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cannot be read as CSV: Empty CSV file"),
        (b"PAR1...", "standard input holds Parquet, not CSV: give the file itself"),
        (None, "data is '-', but standard input is closed"),
    ],
)
def test_a_standard_input_that_is_no_table_is_one_sentence(
    content, message, partita, monkeypatch, tmp_path
):
    hold(monkeypatch, content)
    code, _, err = partita("fit", "-", *FIT, "--out", tmp_path / "m")
    assert code == 2
    assert message in err
