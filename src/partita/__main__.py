"""The command ``partita``: what goes wrong becomes one sentence and an exit code."""

import os
import sys
import warnings
from typing import Any

from .errors import PartitaError

BUG, BAD_INPUT, INTERRUPTED = 1, 2, 130
STOPPED = "interrupted; nothing is half-written"


def main() -> None:
    """Run the command line. ``--debug``, anywhere, shows tracebacks."""
    debug = "--debug" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    warnings.showwarning = _tell
    try:
        import typer

        from .cli._app import app
    except ModuleNotFoundError as exc:
        if debug:
            raise
        _stop(
            f"the command line needs {exc.name}, which is not installed: pip install "
            "'partita[cli]'",
            BAD_INPUT,
        )
    try:
        code = app(arguments, prog_name="partita", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        _stop(STOPPED, INTERRUPTED)
    except Exception as exc:
        if debug:
            raise
        _stop(_sentence(exc), BAD_INPUT if _is_expected(exc) else BUG)
    if code == INTERRUPTED:
        _stop(STOPPED, INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


def _is_expected(exc: Exception) -> bool:
    """Bad input, a machine that is too small, or what the command line's library says about options
    (of whichever version it is)."""
    return isinstance(exc, PartitaError | OSError | MemoryError) or hasattr(exc, "format_message")


def _sentence(exc: Exception) -> str:
    if hasattr(exc, "format_message"):
        return " ".join(str(exc.format_message()).split())
    if isinstance(exc, MemoryError):
        return "there is not enough memory for this: give fewer rows at a time"
    if isinstance(exc, OSError) and not isinstance(exc, PartitaError):
        return f"{exc.filename or 'a file'} cannot be read or written: {exc.strerror or exc}"
    if isinstance(exc, PartitaError):
        return " ".join(str(exc).split())
    return f"something unexpected went wrong ({type(exc).__name__}: {' '.join(str(exc).split())}); --debug shows where"


def _stop(sentence: str, code: int) -> None:
    if sentence:  # none after a command that was given nothing: the help is on the screen
        print(f"partita: {sentence}", file=sys.stderr)
    if (
        code == INTERRUPTED
        # submodels may still be at work in other threads, and some libraries abort when Python ends
        # under them
    ):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _tell(message: Any, category: Any, *_: Any, **__: Any) -> None:
    print(f"partita: warning: {' '.join(str(message).split())}", file=sys.stderr)


if __name__ == "__main__":
    main()
