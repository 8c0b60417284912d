"""Tables that are no files of this machine: standard input and addresses."""

import http.server
import io
import json
import signal
import subprocess
import sys
import tempfile
import threading
import time

import pandas as pd
import pytest
from sklearn.datasets import load_wine

from partita import InputError, MissingExtraError, store
from partita.tables._open import footers_of, last_change_of, open_file, sha256_of
from partita.tables._remote import is_local, local_copy


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wine")
    frame = load_wine(as_frame=True).frame.iloc[:, [0, 1, 6, 9, 12, 13]]
    frame[::2].to_csv(folder / "train.csv", index=False)
    frame[::2].to_csv(folder / "train_de.csv.gz", index=False, sep=";", decimal=",")
    frame[::2].to_parquet(folder / "train.parquet", index=False)
    frame[1::2].to_csv(folder / "new data.csv", index=False)
    return folder


class Answering(http.server.SimpleHTTPRequestHandler):
    """The files of a folder, and some answers that go wrong."""

    def do_GET(self):
        if "forbidden" in self.path:
            self.send_error(403)
        elif "moved" in self.path:
            self.send_response(302)
            self.send_header("Location", "/train.csv")
            self.end_headers()
        elif "short" in self.path or "slow" in self.path:
            self.send_response(200)
            self.send_header("Content-Length", "100000")
            self.end_headers()
            self.wfile.write(b"a,y\n1,2\n")
            self.wfile.flush()
            if "slow" in self.path:
                self.server.asked.set()
                self.server.stopping.wait(30)
            self.close_connection = True
        else:
            super().do_GET()

    def log_message(self, *_):
        pass


@pytest.fixture
def server(wine):
    def answer(*arguments):
        return Answering(*arguments, directory=str(wine))

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), answer) as found:
        found.asked, found.stopping = threading.Event(), threading.Event()
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield found
        found.stopping.set()
        found.shutdown()


@pytest.fixture
def address(server):
    return f"http://127.0.0.1:{server.server_port}"


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


def run(*arguments, **settings):
    command = [sys.executable, "-m", "partita", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, **settings)


FIT = ("--target", "target", "--submodels", "3", "--estimator", "logistic")


# ---- addresses ----


@pytest.mark.parametrize(
    "name",
    ["train.csv", "train.parquet", "train_de.csv.gz", "moved.csv", "train.csv?signed=secret#part"],
)
def test_a_copy_is_what_the_server_has_and_is_gone_afterwards(name, address, wine, temporary):
    original = wine / {"moved.csv": "train.csv"}.get(name, name.partition("?")[0])
    with local_copy(f"{address}/{name}") as path:
        assert path.read_bytes() == original.read_bytes()
        assert path.name == name.partition("?")[0]
        assert path.is_relative_to(temporary)
        assert sha256_of(path) == sha256_of(original)
        if path.suffix == ".parquet":
            assert footers_of(path) == footers_of(original)
            assert last_change_of(path) > 0
    assert not path.parent.exists()


def test_a_path_is_no_copy(wine, monkeypatch):
    monkeypatch.chdir(wine)
    named = f"file://{wine}/new%20data.csv"
    for data in (
        "train.csv",
        wine / "train.csv",
        str(wine / "train.csv"),
        f"file://localhost{wine}/train.csv",
        "FILE:" + named[5:],
    ):
        assert is_local(data)
        with local_copy(data) as path:
            assert path.samefile(wine / ("new data.csv" if "%20" in str(data) else "train.csv"))
    with (
        pytest.raises(
            InputError, match=r"data 'file://elsewhere/t.csv' is on another machine, 'elsewhere'"
        ),
        local_copy("file://elsewhere/t.csv"),
    ):
        pass


def test_a_folder_of_files_is_copied_whole(wine):
    import fsspec

    files = fsspec.filesystem("memory")
    content = (wine / "train.parquet").read_bytes()
    for name in ("/bucket/table/1.parquet", "/bucket/table/more/2.parquet"):
        files.pipe(name, content)
    try:
        for address in ("memory://bucket/table", "memory://bucket/table/"):
            with local_copy(address) as path:
                assert path.name == "table"
                assert open_file(path).n_rows == 2 * len(pd.read_csv(wine / "train.csv"))
        files.pipe(
            "/bucket/table/../../outside.parquet", content
        )  # such names are allowed where there are no real folders
        with pytest.raises(
            InputError,
            match=r"holds a file named '\.\./\.\./outside.parquet', which would lie outside its "
            r"folder",
        ):
            local_copy("memory://bucket/table").__enter__()
    finally:
        files.store.clear()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "nothing.csv?signed=secret",
            r"data 'http://127.0.0.1:\d+/nothing.csv' could not be read: there is no such file$",
        ),
        (
            "forbidden.csv?signed=secret",
            r"forbidden.csv' could not be read: the server answers 403 Forbidden$",
        ),
        ("short.csv", "short.csv' could not be read: .*not completed"),
        ("page", r"page' is neither \.csv nor \.parquet"),
    ],
)
def test_what_the_server_does_not_give(name, message, address):
    with pytest.raises(InputError, match=message) as error, local_copy(f"{address}/{name}"):
        pass
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (
            "http://user:secret@127.0.0.1:9/t.csv",
            InputError,
            r"data 'http://127.0.0.1:9/t.csv' could not be read: Cannot connect",
        ),
        (
            "xyz://bucket/t.csv",
            InputError,
            r"data 'xyz://bucket/t.csv' could not be read \(Protocol not known: xyz\): give a path",
        ),
        (
            "s3://bucket/t.csv",
            MissingExtraError,
            "reading s3:// addresses needs s3fs, which is not installed: pip install s3fs",
        ),
        (
            "gs://bucket/t.csv",
            MissingExtraError,
            "reading gs:// addresses needs gcsfs, which is not installed: pip install gcsfs",
        ),
    ],
)
def test_addresses_that_cannot_be_read(data, error, message):
    with pytest.raises(error, match=message), local_copy(data):
        pass


@pytest.mark.parametrize("library", ["fsspec", "aiohttp"])
def test_libraries_that_are_missing(library, monkeypatch, address):
    monkeypatch.setitem(sys.modules, library, None)
    for module in [
        name
        for name in sys.modules
        if name.startswith(("fsspec.core", "fsspec.implementations.http"))
    ]:
        monkeypatch.delitem(sys.modules, module)
    message = rf"reading http:// addresses needs {library}, which is not installed: pip install 'partita\[remote\]'"
    with pytest.raises(MissingExtraError, match=message), local_copy(f"{address}/train.csv"):
        pass


def test_every_command_takes_addresses(partita, address, wine, tmp_path):
    model = tmp_path / "m"
    code, _, err = partita(
        "fit", f"{address}/train_de.csv.gz", *FIT, "--sep", ";", "--decimal", ",", "--out", model
    )
    assert code == 0, err
    known = store.manifest(model)["about"]["data"]
    assert (known["name"], known["sha256"]) == (
        "train_de.csv.gz",
        sha256_of(wine / "train_de.csv.gz"),
    )
    new = (f"{address}/new%20data.csv", "--sep", ",", "--decimal", ".")
    asked = {
        "certify": ("certify", model, *new, "--out", tmp_path / "c.csv"),
        "report": ("report", model, *new, "--out", tmp_path / "r.html"),
        "audit": (
            "audit",
            model,
            *new,
            "--training",
            f"{address}/train_de.csv.gz",
            "--rows",
            3,
            "--attacks",
            "poisoning",
        ),
        "sweep": (
            "sweep",
            f"{address}/train.parquet",
            *FIT,
            "--rules",
            "plurality",
            "--out",
            tmp_path / "s",
        ),
    }
    for arguments in asked.values():
        code, _, err = partita(*arguments)
        assert code == 0, err
    again = (
        "certify",
        model,
        wine / "new data.csv",
        "--sep",
        ",",
        "--decimal",
        ".",
        "--out",
        tmp_path / "again.csv",
    )
    assert partita(*again)[0] == 0
    assert (tmp_path / "c.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()


def test_workers_see_no_copy(partita, address, tmp_path):
    for data in (f"{address}/train.parquet", "-"):
        code, _, err = partita("fit", data, *FIT, "--cluster", "local", "--out", tmp_path / "m")
        assert (code, err) == (
            2,
            "partita: data is no path that all workers see: with --cluster give the path of a "
            "Parquet file or folder\n",
        )


def test_an_interrupted_download_leaves_nothing_behind(server, address, temporary, tmp_path):
    command = [
        sys.executable,
        "-m",
        "partita",
        "fit",
        f"{address}/slow.csv",
        *FIT,
        "--out",
        tmp_path / "m",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert server.asked.wait(60)
        while not [file for file in temporary.rglob("slow.csv") if file.is_file()]:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "partita: interrupted; nothing is half-written\n"
    assert not list(temporary.iterdir())


def test_a_place_without_room(address, tmp_path):
    """The process may write 100 bytes, as if no more would fit."""
    import resource

    def full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    done = run("fit", f"{address}/train.csv", *FIT, "--out", tmp_path / "m", preexec_fn=full)
    assert done.returncode == 2
    assert b"train.csv' cannot be copied to" in done.stderr
    assert b"(File too large): make room, or set TMPDIR to a place that has it\n" in done.stderr


# ---- standard input ----


@pytest.fixture
def given(monkeypatch):
    """Let standard input hold some bytes."""

    def hold(content):
        monkeypatch.setattr(
            sys, "stdin", None if content is None else io.TextIOWrapper(io.BytesIO(content))
        )

    return hold


def test_standard_input(partita, given, wine, tmp_path):
    model, train = tmp_path / "m", (wine / "train.csv").read_bytes()
    for arguments in (
        ("fit", "-", *FIT, "--out", model),
        ("sweep", "-", *FIT, "--rules", "plurality", "--out", tmp_path / "s"),
    ):
        given(train)
        code, _, err = partita(*arguments)
        assert code == 0, err
    known = store.manifest(model)["about"]["data"]
    assert (known["name"], known["sha256"]) == ("stdin.csv", sha256_of(wine / "train.csv"))
    piped = run(
        "certify",
        model,
        "-",
        "--out",
        tmp_path / "c.csv",
        "--json",
        input=(wine / "new data.csv").read_bytes(),
    )
    assert piped.returncode == 0, piped.stderr
    assert json.loads(piped.stdout)["rows"] == 89
    assert partita("certify", model, wine / "new data.csv", "--out", tmp_path / "again.csv")[0] == 0
    assert (tmp_path / "c.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "stdin.csv' cannot be read as CSV: Empty CSV file"),
        (b"PAR1...", "standard input holds Parquet, not CSV: give the file itself"),
        (None, "data is '-', but standard input is closed"),
    ],
)
def test_a_standard_input_that_is_no_table(content, message, partita, given, tmp_path):
    given(content)
    code, _, err = partita("fit", "-", *FIT, "--out", tmp_path / "m")
    assert code == 2
    assert message in err
