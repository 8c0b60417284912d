"""Tables that are not files on this machine: standard input and URLs."""

import http.server
import io
import sys
import tempfile
import threading

import pandas as pd
import pytest

from partita import InputError, MissingExtraError
from partita.tables import _files
from partita.tables._files import footers_of, is_local, local_copy, open_file, sha256_of


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    frame = pd.DataFrame({"a": [1.5, 2.5, 3.5], "y": [0, 1, 0]})
    frame.to_csv(folder / "train.csv", index=False)
    frame.to_csv(folder / "train_de.csv.gz", index=False, sep=";", decimal=",")
    frame.to_parquet(folder / "train.parquet", index=False)
    frame.to_csv(folder / "new data.csv", index=False)
    return folder


class Handler(http.server.SimpleHTTPRequestHandler):
    """The files of a folder, and some answers that go wrong."""

    def do_GET(self):
        if "forbidden" in self.path:
            self.send_error(403)
        elif "moved" in self.path:
            self.send_response(302)
            self.send_header("Location", "/train.csv")
            self.end_headers()
        elif "short" in self.path:
            self.send_response(200)
            self.send_header("Content-Length", "100000")
            self.end_headers()
            self.wfile.write(b"a,y\n1,2\n")
            self.close_connection = True
        else:
            super().do_GET()

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def url(tables):
    def handler(*arguments):
        return Handler(*arguments, directory=str(tables))

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Where copies go; nothing stays behind."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    for proxy in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    yield folder
    assert not list(folder.iterdir())


# ---- URLs ----


@pytest.mark.parametrize(
    "name",
    ["train.csv", "train.parquet", "train_de.csv.gz", "moved.csv", "train.csv?signed=secret#part"],
)
def test_a_copy_is_what_the_server_has_and_is_gone_afterwards(name, url, tables, temporary):
    original = tables / {"moved.csv": "train.csv"}.get(name, name.partition("?")[0])
    with local_copy(f"{url}/{name}") as path:
        assert path.read_bytes() == original.read_bytes()
        assert path.name == name.partition("?")[0]
        assert path.is_relative_to(temporary)
        assert sha256_of(path) == sha256_of(original)
        if path.suffix == ".parquet":
            assert footers_of(path) == footers_of(original)
    assert not path.parent.exists()


def test_messages_name_the_url_and_not_the_copy(url, partita, tmp_path):
    """Without what may be secret in it."""
    address = f"{url}/train.csv?signed=secret"
    code, _, err = partita("fit", address, "--target", "price", "--out", tmp_path / "m")
    assert code == 2
    assert f"which '{url}/train.csv' does not have" in err
    assert "secret" not in err
    assert "partita-" not in err


def test_a_path_is_not_copied(tables, monkeypatch):
    monkeypatch.chdir(tables)
    named = f"file://{tables}/new%20data.csv"
    for data in (
        "train.csv",
        tables / "train.csv",
        str(tables / "train.csv"),
        f"file://localhost{tables}/train.csv",
        "FILE:" + named[5:],
    ):
        assert is_local(data)
        with local_copy(data) as path:
            assert path.samefile(tables / ("new data.csv" if "%20" in str(data) else "train.csv"))
    assert not is_local("-")
    assert not is_local("s3://bucket/t.csv")
    with (
        pytest.raises(
            InputError, match=r"data 'file://elsewhere/t.csv' is on another machine, 'elsewhere'"
        ),
        local_copy("file://elsewhere/t.csv"),
    ):
        pass


def test_a_folder_of_files_is_copied_whole(tables):
    import fsspec

    files = fsspec.filesystem("memory")
    content = (tables / "train.parquet").read_bytes()
    for name in ("/bucket/table/1.parquet", "/bucket/table/more/2.parquet"):
        files.pipe(name, content)
    try:
        for address in ("memory://bucket/table", "memory://bucket/table/"):
            with local_copy(address) as path:
                assert path.name == "table"
                assert open_file(path).n_rows == 6
        # such names are allowed where there are no real folders
        files.pipe("/bucket/table/../../outside.parquet", content)
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
            r"training 'http://127.0.0.1:\d+/nothing.csv' could not be read: there is no such",
        ),
        (
            "forbidden.csv?signed=secret",
            r"forbidden.csv' could not be read: the server answers 403 Forbidden$",
        ),
        ("short.csv", "short.csv' could not be read: .*not completed"),
        ("page", r"page' is neither \.csv nor \.parquet"),
    ],
)
def test_what_the_server_does_not_give_is_said_without_secrets(name, message, url):
    with (
        pytest.raises(InputError, match=message) as error,
        local_copy(f"{url}/{name}", "training"),
    ):
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
def test_urls_that_cannot_be_read(data, error, message):
    with pytest.raises(error, match=message), local_copy(data):
        pass


@pytest.mark.parametrize("library", ["fsspec", "aiohttp"])
def test_libraries_that_are_missing(library, monkeypatch, url):
    monkeypatch.setitem(sys.modules, library, None)
    for module in [
        name
        for name in sys.modules
        if name.startswith(("fsspec.core", "fsspec.implementations.http"))
    ]:
        monkeypatch.delitem(sys.modules, module)
    message = (
        rf"reading http:// addresses needs {library}, which is not installed: pip install "
        r"'partita\[remote\]'"
    )
    with pytest.raises(MissingExtraError, match=message), local_copy(f"{url}/train.csv"):
        pass


def test_a_disk_that_is_full_is_one_sentence(url, monkeypatch):
    class Full:
        def get_file(self, place, copy):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(_files, "_file_system", lambda url, argument: (Full(), url))
    with (
        pytest.raises(
            InputError,
            match=r"train.csv' cannot be copied to .* \(No space left on device\): make room, or "
            "set TMPDIR",
        ),
        local_copy(f"{url}/train.csv"),
    ):
        pass


# ---- standard input ----


def hold(monkeypatch, content):
    """Let standard input hold some bytes."""
    stream = None if content is None else io.TextIOWrapper(io.BytesIO(content))
    monkeypatch.setattr(sys, "stdin", stream)


def test_standard_input_is_a_csv_file_while_the_block_lasts(tables, monkeypatch):
    content = (tables / "train.csv").read_bytes()
    hold(monkeypatch, content)
    with local_copy("-") as path:
        assert path.name == "stdin.csv"
        assert path.read_bytes() == content
    assert not path.exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PAR1...", "standard input holds Parquet, not CSV: give the file itself"),
        (None, "data is '-', but standard input is closed"),
    ],
)
def test_a_standard_input_that_is_no_table_is_refused(content, message, monkeypatch):
    hold(monkeypatch, content)
    with pytest.raises(InputError, match=message), local_copy("-"):
        pass
