"""What the service answers: rows with their proofs, its health, and refusals in one shape."""

import json
from typing import Any

import numpy as np

from .._support import json_value
from ..ensemble import FittedEnsemble
from ..workflow import CertifiedTable
from ._web import BaseModel, HTTPException, Request, Response

Label = str | int | float | bool


class Counts(BaseModel):
    """What a radius counts, how many there are, and what no attacker reaches.

    trusted: columns, and "the training table" where only rows to predict can be attacked.
    """

    what: str
    total: int
    trusted: list[str]


class Row(BaseModel):
    """One row's prediction and its proof.

    radius: how many of the things counted an attacker may own without breaking what is proven.
    critical_units: those that break it alone. Both are null for a model of numbers without a
    tolerance. runner_up: the label nearest to taking over, if there is one. intervals: for a model
    of numbers, how low and how high r of the things counted can bring the prediction; null: no
    end. For a model of labels it is null. silent_units: those that were silent, where the service
    takes silence into account; their submodels abstained.
    """

    prediction: Label
    radius: int | None
    runner_up: Label | None
    critical_units: list[str] | None
    intervals: dict[str, tuple[float | None, float | None]] | None
    silent_units: list[str] | None = None


class Certified(BaseModel):
    """What is proven up to the radius, what the radius counts, and the rows in their order."""

    proves: str | None
    counts: Counts
    rows: list[Row]


class Health(BaseModel):
    """The service is up, and this is what it serves.

    warnings: what speaks against relying on this model.
    """

    status: str
    model: str
    partita: str
    submodels: int
    proves: str | None
    counts: Counts
    warnings: list[str]


class State(BaseModel):
    """Whether the service is alive, or ready for requests."""

    status: str


class Refusal(BaseModel):
    """What is wrong, in one sentence; the row (counted from 0) and column that it is about."""

    error: str
    row: int | None
    column: str | None


class RequestRefusedError(HTTPException):
    """A request that is refused, with the sentence that says why."""

    def __init__(
        self,
        status: int,
        error: str,
        row: int | None = None,
        column: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(status, error, headers)
        self.row, self.column = row, column


def row_dicts(certified: CertifiedTable) -> list[dict[str, Any]]:
    """The rows of an answer, as Row describes them."""
    proof, critical, names = (
        certified.proof,
        certified.critical_units,
        certified.model.units_.names,
    )
    runner_up = None if proof is None else proof.runner_up
    has_intervals = certified.model.task == "regression"
    return [
        {
            "prediction": json_value(prediction),
            "radius": None if proof is None else int(proof.radius[i]),
            "runner_up": None if runner_up is None else json_value(runner_up[i]),
            "critical_units": None
            if critical is None
            else [names[unit] for unit in np.flatnonzero(critical[:, i])],
            "intervals": {
                str(r): [json_value(low[i]), json_value(high[i])]
                for r, (low, high) in certified.intervals.items()
            }
            if has_intervals
            else None,
        }
        | _silent_units(certified, i)
        for i, prediction in enumerate(certified.prediction)
    ]


def _silent_units(certified: CertifiedTable, i: int) -> dict[str, list[str]]:
    if certified.silent_units is None:
        return {}
    names = certified.model.units_.names
    return {"silent_units": [names[unit] for unit in np.flatnonzero(certified.silent_units[i])]}


def what_is_proven(
    model: FittedEnsemble, tolerance: float | None, relative: float | None
) -> str | None:
    """What stays true while an attacker owns no more than the radius; None if nothing does."""
    if model.task == "classification":
        stays = "the prediction stays the same"
    elif tolerance is not None:
        stays = f"the prediction moves by at most {tolerance}"
    elif relative is not None:
        stays = f"the prediction moves by at most {relative} times its absolute value"
    else:
        return None
    return f"{stays}, if nobody has touched the training table" if model.trusts_training else stays


def json_bytes(content: dict[str, Any]) -> bytes:
    """A body."""
    return json.dumps(content, allow_nan=False).encode()


async def handle_refusal(request: Request, exc: Exception) -> Response:
    """FastAPI's handler for everything that goes wrong."""
    return refusal_response(exc, getattr(request.app.state, "ask_at", "/certify"))


def refusal_response(exc: Exception, ask_at: str = "/certify") -> Response:
    """A refusal; what went wrong inside the service is in its log and in no answer."""
    content: dict[str, Any] = {
        "error": "the service failed at this request, and its log says why",
        "row": None,
        "column": None,
    }
    if isinstance(exc, RequestRefusedError):
        content = {"error": exc.detail, "row": exc.row, "column": exc.column}
    elif isinstance(exc, HTTPException):  # no such address, or not by this method
        content["error"] = f"{exc.detail}: use POST {ask_at} or GET /health"
    status, headers = (
        (exc.status_code, exc.headers) if isinstance(exc, HTTPException) else (500, None)
    )
    return Response(json_bytes(content), status, headers, "application/json")
