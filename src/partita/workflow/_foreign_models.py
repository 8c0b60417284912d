"""Models that partita did not fit: from a Python function, a file, or a service, for stress."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np

from .._support import Array, Estimator, TableLike, one_line, require
from ..errors import InputError

ROWS_PER_REQUEST, TIMEOUT = 1000, 60.0
PICKLES = (".joblib", ".pkl", ".pickle")


class RemoteModel:
    """A model behind an address: gets rows as a JSON list of objects, answers with predictions.

    Parameters
    ----------
    url : str
        Where rows are sent by POST. The answer is a JSON list with one prediction per row, or an
        object with that list as "predictions".
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._client = require("httpx", "a model behind an address", "partita[serve]").Client(
            timeout=TIMEOUT
        )

    def predict(self, X: TableLike) -> Array:
        """Send the rows of a frame, and return the predictions."""
        answers: list[object] = []
        for start in range(0, len(X), ROWS_PER_REQUEST):
            rows = X.iloc[start : start + ROWS_PER_REQUEST].to_json(orient="records")
            headers = {"content-type": "application/json"}
            response = self._client.post(self.url, content=rows, headers=headers)
            response.raise_for_status()
            found = json.loads(response.content)
            answers += found["predictions"] if isinstance(found, dict) else found
        return np.array(answers)


def foreign_model(name: str, trust_pickle: bool = False) -> Estimator:
    """Return a model by its name.

    Parameters
    ----------
    name : str
        ``package.module:load``, a model or a function without arguments that returns one; the
        module may lie in the current folder. Or a file of joblib or pickle; or the address of a
        service (:class:`RemoteModel`).
    trust_pickle : bool, default=False
        Whether such a file may be loaded, which runs what is in it.

    Returns
    -------
    object
        With ``predict``, or a function that predicts.
    """
    if name.startswith(("http://", "https://")):
        return RemoteModel(name)
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
