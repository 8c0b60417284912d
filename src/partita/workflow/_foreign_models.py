"""Models that partita did not fit, for ``partita stress``: from a Python function, or a file."""

import importlib
import sys
from pathlib import Path

from .._support import Estimator, one_line
from ..errors import InputError

PICKLES = (".joblib", ".pkl", ".pickle")


def foreign_model(name: str, trust_pickle: bool = False) -> Estimator:
    """Return a model by its name.

    Parameters
    ----------
    name : str
        ``package.module:load``, a model or a function without arguments that returns one; the
        module may lie in the current folder. Or a file of joblib or pickle.
    trust_pickle : bool, default=False
        Whether such a file may be loaded, which runs what is in it.

    Returns
    -------
    object
        With ``predict``, or a function that predicts.
    """
    if Path(name).suffix in PICKLES:
        if not trust_pickle:
            raise InputError(
                f"model {name!r} is a pickle, which runs code when it is loaded: add "
                "--trust-pickle if you know who wrote it"
            )
        import joblib

        try:
            return joblib.load(name)
        except Exception as exc:  # whatever unpickling runs may raise anything
            raise InputError(f"model {name!r} cannot be loaded: {one_line(exc)}") from exc
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise InputError(
            f"model is {name!r}: give package.module:load, where load returns the model, or a "
            ".joblib file"
        )
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = getattr(importlib.import_module(module), attribute)
        return found if hasattr(found, "predict") and not isinstance(found, type) else found()
    except Exception as exc:  # the user's code
        raise InputError(
            f"model {name!r} cannot be loaded ({type(exc).__name__}: {one_line(exc)}): give a "
            "function without arguments that returns the model"
        ) from exc
