"""Progress on standard error: a bar on a terminal, lines elsewhere."""

import io
import os
import pty
import re
import subprocess
import sys
import threading

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier
from partita._support import Progress, log
from partita._support import screen as printed

ROWS = np.random.default_rng(0).normal(size=(40, 6))
LABELS = np.arange(40) % 2


class Terminal:
    """A real pseudo-terminal in the place of standard error, and what it shows in the end."""

    def __init__(self, monkeypatch, term="xterm-256color"):
        for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("TERM", term)
        monkeypatch.setenv("COLUMNS", "100")
        self._ours, theirs = pty.openpty()
        self._stream = os.fdopen(theirs, "w")
        monkeypatch.setattr(sys, "stderr", self._stream)
        self._bytes = bytearray()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        while True:
            try:
                content = os.read(self._ours, 2**16)
            except OSError:  # the other side is closed
                return
            if not content:
                return
            self._bytes += content

    def close(self):
        """Hang up; returns everything that was ever written."""
        self._stream.close()
        self._reader.join()
        os.close(self._ours)
        return self._bytes.decode()


def screen(written):
    """The lines that a terminal shows after this was written to it."""
    lines, row, column = [""], 0, 0
    for token in re.findall(r"\x1b\[[?\d;]*[A-Za-z]|.|\n", written):
        if token == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif token == "\r":
            column = 0
        elif re.fullmatch(r"\x1b\[\d*A", token):
            row -= int(token[2:-1] or 1)
        elif token == "\x1b[2K":
            lines[row] = ""
        elif not token.startswith("\x1b"):
            lines[row] = lines[row][:column].ljust(column) + token + lines[row][column + 1 :]
            column += 1
    return [line.rstrip() for line in lines if line.strip()]


def test_on_a_terminal_there_is_a_bar_that_goes_away(monkeypatch, capsys):
    terminal = Terminal(monkeypatch)
    with Progress("fitted", 3, "submodels") as bar:
        for done in (1, 2, 3):
            bar.update(done, note=f"loss 0.{done}")
    written = terminal.close()
    assert "fitted" in written
    assert "3/3 submodels" in re.sub(r"\x1b\[[\d;]*m", "", written)
    assert "loss 0.3" in written
    assert "\x1b[?25h" in written  # the cursor is back
    assert screen(written) == []
    assert capsys.readouterr().out == ""


def test_a_bar_goes_away_when_the_work_fails(monkeypatch):
    terminal = Terminal(monkeypatch)
    with pytest.raises(ZeroDivisionError):
        list(Progress("fitted", 3, "submodels").over(1 // k for k in (2, 1, 0)))
    assert screen(terminal.close()) == []
    assert printed._DISPLAY._bars is None


def test_what_a_program_prints_beside_a_bar_stays_where_it_belongs(monkeypatch, capsys):
    terminal = Terminal(monkeypatch)
    with Progress("fitted", 2, "submodels") as bar:
        bar.update(1)
        print("for others")
        log("a message")
    assert capsys.readouterr().out == "for others\n"
    assert screen(terminal.close()) == ["partita: a message"]


def test_bars_within_bars_and_in_threads_share_the_terminal(monkeypatch):
    terminal = Terminal(monkeypatch)

    def work():
        for _ in Progress("tried", 5, "exchanges").over(range(5)):
            pass

    for _ in Progress("fitted", 2, "submodels").over(range(2)):
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    written = terminal.close()
    assert "tried" in written
    assert screen(written) == []
    assert printed._DISPLAY._bars is None


def test_a_bar_that_nobody_closed_is_gone_when_the_program_ends():
    code = "from partita._support import Progress; Progress('fitted', 3, 'submodels')"
    ours, theirs = pty.openpty()
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "100"},
    )
    os.close(theirs)
    written = os.read(ours, 2**16).decode()
    os.close(ours)
    assert "fitted" in written
    assert written.rindex("\x1b[?25h") > written.rindex("\x1b[?25l")  # the cursor is back
    assert screen(written) == []


def test_a_fit_shows_its_bar_on_standard_error_alone(monkeypatch, capsys):
    terminal = Terminal(monkeypatch)
    FeaturePartitionClassifier(GaussianNB(), n_submodels=3, verbose=1).fit(ROWS, LABELS)
    written = terminal.close()
    assert "3/3 submodels" in re.sub(r"\x1b\[[\d;]*m", "", written)
    assert screen(written) == []
    assert capsys.readouterr().out == ""


def test_a_terminal_that_cannot_redraw_gets_lines(monkeypatch):
    dumb = Terminal(monkeypatch, term="dumb")
    Progress("fitted", 3, "submodels").update(3)
    assert screen(dumb.close()) == ["partita: fitted 3 of 3 submodels, 0 s so far, about 0 s left"]


def test_without_rich_a_terminal_gets_lines(monkeypatch):
    terminal = Terminal(monkeypatch)
    monkeypatch.setitem(sys.modules, "rich", None)
    Progress("fitted", 3, "submodels").update(3)
    (line,) = screen(terminal.close())
    assert line.startswith("partita: fitted 3 of 3 submodels")


def test_elsewhere_there_are_lines(capsys):
    FeaturePartitionClassifier(GaussianNB(), n_submodels=3, verbose=1).fit(ROWS, LABELS)
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(r"^partita: fitted 3 of 3 submodels, \d s so far, about 0 s left$", err, re.M)
    assert "\x1b" not in err
    FeaturePartitionClassifier(GaussianNB(), n_submodels=3).fit(ROWS, LABELS)
    assert capsys.readouterr().err == ""


def test_lines_come_every_two_seconds_and_at_the_end(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(printed.time, "monotonic", lambda: now[0])
    lines = Progress("fitted", 10, "submodels", before=4)
    for done in range(5, 11):
        now[0] += 1.5
        lines.update(done, note="loss 0.1")
    assert capsys.readouterr().err.splitlines() == [
        # the four of an earlier run took no time of this one
        "partita: fitted 6 of 10 submodels, loss 0.1, 3 s so far, about 6 s left",
        "partita: fitted 8 of 10 submodels, loss 0.1, 6 s so far, about 3 s left",
        "partita: fitted 10 of 10 submodels, loss 0.1, 9 s so far, about 0 s left",
    ]


def test_nothing_is_printed_where_progress_is_disabled(capsys):
    assert list(Progress("fitted", 2, "submodels", enabled=False).over("ab")) == ["a", "b"]
    assert capsys.readouterr() == ("", "")


def test_without_a_standard_error_nothing_lands_on_standard_output(monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", None)
    log("message")
    Progress("fitted", 1, "submodels").update(1)
    assert out.getvalue() == ""
