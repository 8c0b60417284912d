"""One line of JSON per request; a line that cannot be written costs nobody an answer."""

import json
import os
import time
from pathlib import Path

import pytest

from partita import InputError, serve, store
from partita.serve import _metrics
from partita.serve._metrics import RequestLog

from .client import CANCER, TOKEN, ask, rows_of, server, wait_for


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_line_says_what_happened_and_holds_no_cell(classifier, tmp_path):
    path = tmp_path / "requests.jsonl"
    app = serve.make_app(classifier, request_log=path)
    secret = rows_of(CANCER[:1])[0] | {"mean area": "secret cell"}
    answers = [ask(app, {"rows": rows_of(CANCER[:3])}), ask(app, {"rows": [secret]})]
    ask(app, b"", "/live", "GET")
    ask(app, b"", "/" + "x" * 5000, "GET")
    app.state.service.log.close()
    first, second, third = lines_of(path)  # probes are not logged
    assert {name: first[name] for name in ("method", "path", "status", "rows", "worker")} == {
        "method": "POST",
        "path": "/certify",
        "status": 200,
        "rows": 3,
        "worker": 0,
    }
    radii = [row["radius"] for row in answers[0].json()["rows"]]
    assert first["lowest_radius"] == min(radii)
    assert first["ms"] > 0
    assert first["id"] == answers[0].headers["x-request-id"]
    assert (second["status"], "rows" in second) == (422, False)
    assert "secret" not in path.read_text()
    assert (third["status"], len(third["path"])) == (404, 200)


@pytest.mark.long
def test_a_full_disk_loses_lines_and_no_request(classifier, folder):
    if not Path("/dev/full").exists():
        pytest.skip("/dev/full stands for a full disk")
    path = store.save(classifier, folder / "full disk")
    with server(path, folder / "full.log", request_log="/dev/full") as (client, _, _):
        for _ in range(20):
            answer = client.post("/certify", json={"rows": rows_of(CANCER[:1])})
            assert answer.status_code == 200
        wait_for(lambda: "partita_log_lines_lost_total 20\n" in client.get("/metrics").text, 20)


def test_writing_goes_on_when_there_is_room_again(tmp_path):
    """A line that was cut off is ended, so that the next one can be read."""
    path = tmp_path / "requests.jsonl"
    log = RequestLog(path)
    file = log._file

    class Cut:
        def __init__(self):
            self.calls = 0

        def write(self, content):
            self.calls += 1
            if self.calls == 1:
                return file.write(content[:10])
            if self.calls == 2:
                raise OSError(28, "No space left on device")
            return file.write(content)

        def close(self):
            file.close()

    log._file = cut = Cut()
    for k in range(3):
        log.write(id=str(k))
        wait_for(lambda: cut.calls == k + 1)  # noqa: B023  (called before k changes)
    log.close()
    lines = path.read_text().splitlines()
    assert len(lines) == 2
    assert json.loads(lines[1])["id"] == "2"
    assert log.take_lost() == 2
    assert log.take_lost() == 0


def test_a_writer_that_hangs_makes_nobody_wait(tmp_path, monkeypatch):
    """As a pipe does that nobody reads."""
    monkeypatch.setattr(_metrics, "MOST_LINES", 100)
    monkeypatch.setattr(_metrics, "SECONDS_TO_WRITE", 0.1)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    log = RequestLog(pipe)
    before = time.monotonic()
    for k in range(5000):
        log.write(id=str(k), padding="x" * 100)
    assert time.monotonic() - before < 2
    log.close()
    assert log.take_lost() > 1000
    os.close(reader)  # now writing fails, and the thread ends
    log.close()
    assert not log._thread.is_alive()


@pytest.mark.long
def test_standard_error_is_a_dash(classifier, folder):
    path, log = store.save(classifier, folder / "dash"), folder / "dash.log"
    with server(path, log, request_log="-", token=TOKEN) as (client, _, _):
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        client.headers["X-Request-ID"] = "from-the-proxy"
        client.post("/certify", json={"rows": rows_of(CANCER[:1])})
    line = next(json.loads(line) for line in log.read_text().splitlines() if line[0] == "{")
    assert (line["id"], line["key"], line["client"]) == ("from-the-proxy", "token", "127.0.0.1")
    assert TOKEN not in log.read_text()


def test_a_file_that_cannot_be_written_is_one_sentence(classifier, tmp_path):
    with pytest.raises(InputError, match=r"the request log .* cannot be written \("):
        serve.make_app(classifier, request_log=tmp_path / "no" / "such" / "folder")
