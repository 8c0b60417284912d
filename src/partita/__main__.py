"""The command ``partita``: whatever goes wrong becomes one sentence and an exit code.

Exit codes: 0, 1 for a bug, 2 for bad input, 130 for an interrupt. No traceback reaches the user
unless they ask for it with ``--debug``.
"""

import os
import sys
import warnings
from typing import Any

from .errors import PartitaError

BUG, BAD_INPUT, INTERRUPTED = 1, 2, 130
STOPPED = "interrupted; nothing is half-written"
_shown: set[str] = set()  # warnings of this command: each submodel may give the same one


def main() -> None:
    """Run the command line; ``--debug``, anywhere, shows tracebacks."""
    debug = "--debug" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    _shown.clear()
    warnings.showwarning = _show_warning
    try:
        import typer

        from .cli import app
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
    """Whether this is bad input, a machine that is too small, or the option parser's complaint."""
    return isinstance(exc, PartitaError | OSError | MemoryError) or hasattr(exc, "format_message")


def _sentence(exc: Exception) -> str:
    """Say in one sentence what went wrong."""
    if hasattr(exc, "format_message"):
        return _one_line(exc.format_message())
    if isinstance(exc, MemoryError):
        return "there is not enough memory for this: give fewer rows at a time"
    if isinstance(exc, OSError) and not isinstance(exc, PartitaError):
        return f"{exc.filename or 'a file'} cannot be read or written: {exc.strerror or exc}"
    if isinstance(exc, PartitaError):
        return _one_line(exc)
    cause = f"{type(exc).__name__}: {_one_line(exc)}"
    return f"something unexpected went wrong ({cause}); --debug shows where"


def _one_line(message: Any) -> str:
    files = sys.modules.get("partita.tables._files")  # loaded if a command read a table
    text = str(message) if files is None else files.name_origins(str(message))
    return " ".join(text.split())


def _stop(sentence: str, code: int) -> None:
    """Print one line on standard error and exit."""
    if sentence:  # empty after a command without arguments: the help is on the screen
        print(f"partita: {sentence}", file=sys.stderr)
    if code == INTERRUPTED:
        # submodels may still be at work in other threads, and some libraries abort when Python ends
        # under them
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _show_warning(message: Any, category: Any, *_: Any, **__: Any) -> None:
    # boosted trees in several threads empty each other's warning filters for a moment, and
    # scikit-learn takes that for a mistake of ours
    text = _one_line(message)
    if text.startswith("`sklearn.utils.parallel.delayed`") or text in _shown:
        return
    _shown.add(text)
    print(f"partita: warning: {text}", file=sys.stderr)


if __name__ == "__main__":
    main()
