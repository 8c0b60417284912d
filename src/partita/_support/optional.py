"""Optional libraries: imported on first use, with one message where they are missing."""

from importlib import import_module
from types import ModuleType

from ..errors import MissingExtraError


def require(module: str, purpose: str, install: str | None = None) -> ModuleType:
    """Import an optional library.

    Parameters
    ----------
    module : str
        The module to import, such as ``"matplotlib.figure"``.
    purpose : str
        What needs it, as the start of a sentence: ``"a plot"``.
    install : str, optional
        What to give to pip, such as ``"partita[plot]"``; by default the library's own name.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    MissingExtraError
        If it is not installed; the message says how to install it.
    """
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError as exc:
        raise MissingExtraError(library, purpose, install or library) from exc
