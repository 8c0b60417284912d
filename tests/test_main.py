"""The command's frame: one sentence and an exit code, whatever goes wrong."""

import errno

import pytest
import typer

from partita import InputError
from partita.__main__ import _show_warning, main
from partita.cli import _app


class ParserError(Exception):
    """What the option parser raises."""

    def format_message(self):
        return "No such\n   option: --colour"


@pytest.mark.parametrize(
    ("failure", "code", "sentence"),
    [
        (InputError("target is 'x':\n  give another"), 2, "target is 'x': give another"),
        (ParserError(), 2, "No such option: --colour"),
        (OSError(errno.ENOENT, "No such file", "a.csv"), 2, "a.csv cannot be read or written"),
        (MemoryError(), 2, "there is not enough memory for this: give fewer rows at a time"),
        (
            ZeroDivisionError("division"),
            1,
            "something unexpected went wrong (ZeroDivisionError: division); --debug shows where",
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_a_failure_is_one_sentence_and_a_code(failure, code, sentence, partita, monkeypatch):
    def fails(*_, **__):
        raise failure

    monkeypatch.setattr(_app, "app", fails)
    found, out, err = partita("fit")
    assert (found, out) == (code, "")
    assert err.startswith(f"partita: {sentence}")
    assert err.count("\n") == 1
    monkeypatch.setattr("sys.argv", ["partita", "fit", "--debug"])
    with pytest.raises(type(failure)):
        main()


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), typer.Abort(), 130])
def test_an_interrupt_ends_the_process_at_once(failure, partita, monkeypatch):
    """Submodels may still be at work in other threads."""

    def stopped(*_, **__):
        if isinstance(failure, int):
            return failure
        raise failure

    def leave(code):
        raise SystemExit(code)

    monkeypatch.setattr(_app, "app", stopped)
    monkeypatch.setattr("os._exit", leave)
    code, _, err = partita("fit")
    assert (code, err) == (130, "partita: interrupted; nothing is half-written\n")


def test_a_warning_is_one_line(partita, monkeypatch):
    import warnings

    monkeypatch.setattr(_app, "app", lambda *_, **__: warnings.warn("mind\n  this", stacklevel=1))
    code, _, err = partita("fit")
    assert (code, err) == (0, "partita: warning: mind this\n")


def test_a_warning_that_every_submodel_gives_is_shown_once(partita, monkeypatch):
    import warnings

    def app(*_, **__):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            for message in ("many classes", "many classes", "few rows"):
                warnings.warn(message, stacklevel=1)

    monkeypatch.setattr(_app, "app", app)
    for _ in range(2):  # a new command starts anew
        code, _, err = partita("fit")
        assert (code, err) == (0, "partita: warning: many classes\npartita: warning: few rows\n")


def test_a_race_inside_scikit_learn_is_no_warning_for_users(capsys):
    _show_warning(
        "`sklearn.utils.parallel.delayed` should be used with `sklearn.utils.parallel.Parallel`",
        UserWarning,
    )
    assert capsys.readouterr().err == ""
    _show_warning("nothing of the kind", UserWarning)
    assert capsys.readouterr().err == "partita: warning: nothing of the kind\n"
