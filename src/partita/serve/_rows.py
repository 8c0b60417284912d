"""Rows of JSON in, rows with their proofs out, and refusals in one shape.

Requests are read by hand: pydantic would take the last of two equal names, convert ``"1"`` to a
number, and lose the row and the column that an error is about. Nothing is guessed from a batch: no
row may change how another is read. A body is refused wherever two readers could take it
differently, since a proof is about exactly the cells that were sent.

Responses are described by pydantic models, of which FastAPI makes the OpenAPI description.
"""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from fastapi import Request, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from .._support import Array, JsonObject, json_value
from ..certificates import Certificates
from ..tables import BOOLEAN, NUMBER, TEXT, TIME, read_cells

Label = str | int | float | bool
Columns = dict[str, Array]  # a request's rows, column by column

SHOWN_NAME = 80  # characters of a name that a request made up
CELL_SCHEMAS: dict[str, JsonObject] = {
    NUMBER: {"type": ["number", "null"]},
    BOOLEAN: {"enum": [True, False, 0, 1, None]},
    TIME: {
        "type": ["string", "null"],
        "description": "such as 2026-01-31 or 2026-01-31T12:00:00; without a zone it is UTC",
    },
    TEXT: {"type": ["string", "null"]},
}


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


# ---- in ----


def parse_body(body: bytes) -> object:
    """Read a request's body."""
    try:
        text = body.decode()
        content = json.loads(text, object_pairs_hook=_object, parse_int=_whole_number)
        if "\\u" in text:  # may be half a character, such as \ud800, which no library can encode
            json.dumps(content, ensure_ascii=False).encode()
    except UnicodeError as exc:
        raise RequestRefusedError(422, f"the body is not valid UTF-8: {exc}") from exc
    except ValueError as exc:
        raise RequestRefusedError(422, f"the body is not valid JSON: {exc}") from exc
    return content


def listed_as(
    name: str, content: object, most: int, shape: str, further: Sequence[str] = ()
) -> list[Any]:
    """Return the list under a name of a body; beside it only what ``further`` names may stand."""
    known = isinstance(content, dict) and name in content and {*content} <= {name, *further}
    listed = content[name] if isinstance(content, dict) and known else None
    if not isinstance(listed, list):
        raise RequestRefusedError(422, f'the body must be {{"{name}": {shape}}} and nothing else')
    if not listed:
        raise RequestRefusedError(
            422, f"{name} is empty: give at least one {name.removesuffix('s')}"
        )
    if len(listed) > most:
        raise RequestRefusedError(
            413,
            f"{name} holds {len(listed)} {name}, and the limit is {most}: send fewer {name} at a "
            "time",
        )
    return listed


def parse_rows(body: bytes, max_rows: int) -> list[object]:
    """Return the list of rows in a request's body."""
    return listed_as("rows", parse_body(body), max_rows, '[{"column": value, ...}, ...]')


def columns_of(
    rows: Sequence[object],
    kinds: Mapping[str, str],
    may_lack: Collection[str] = (),
    unread: Collection[str] = (),
) -> Columns:
    """Return the rows as columns, if each has exactly the model's columns.

    A row need not have those in ``may_lack``, which belong to sources that may be silent: they are
    missing then. Those in ``unread`` are missing whatever stands there.
    """
    checked = [_checked_row(i, row, kinds, may_lack) for i, row in enumerate(rows)]
    return {
        name: read_cells([None if name in unread else row.get(name) for row in checked], kind, name)
        for name, kind in kinds.items()
    }


def _checked_row(
    i: int, row: object, kinds: Mapping[str, str], may_lack: Collection[str]
) -> JsonObject:
    column: str | None = None
    if not isinstance(row, dict):
        problem = (
            f"is not an object: give {{column: value, ...}} with the model's {len(kinds)} columns"
        )
    elif None in row:
        column = row[None]
        problem = f"has the column {column[:SHOWN_NAME]!r} twice: give it once"
    elif lacking := [name for name in kinds if name not in row and name not in may_lack]:
        column = lacking[0]
        problem = (
            f"lacks the column {column!r}: add it, with null where there is no value (a service "
            "with --silent detect answers without silent sources)"
        )
    elif unknown := [name for name in row if name not in kinds]:
        column = unknown[0]
        problem = (
            f"has the column {column[:SHOWN_NAME]!r}, which the model was not fitted with: leave "
            "it out"
        )
    else:
        return row
    raise RequestRefusedError(422, f"row {i} {problem}", i, column)


def _object(pairs: list[tuple[str, object]]) -> dict[str | None, object]:
    """Read an object of JSON; one in which a name stands twice becomes {None: name}.

    Two readers may take different values of the two, and a proof is about one.
    """
    if len(dict(pairs)) == len(pairs):
        return {**dict(pairs)}
    return {None: Counter(name for name, _ in pairs).most_common(1)[0][0]}


def _whole_number(digits: str) -> int | float:
    """Read a whole number: JSON has one kind, and one too large for a float is infinite."""
    return int(digits) if len(digits) < 300 else float(digits)


def example_columns(kinds: Mapping[str, str]) -> Columns:
    """Return one row that a request could have: zeros, empty texts, missing times."""
    example = {TEXT: "", TIME: None}
    return {name: read_cells([example.get(kind, 0)], kind, name) for name, kind in kinds.items()}


def rows_schema(
    kinds: Mapping[str, str], max_rows: int, may_lack: Collection[str] = ()
) -> JsonObject:
    """Describe the body of a request with rows, as OpenAPI has it."""
    row = {
        "type": "object",
        "properties": {name: CELL_SCHEMAS[kind] for name, kind in kinds.items()},
        "required": [name for name in kinds if name not in may_lack],
        "additionalProperties": False,
    }
    return list_schema("rows", row, max_rows)


def list_schema(name: str, item: JsonObject, most: int, **further: JsonObject) -> JsonObject:
    """Describe a body with a list under a name, and further entries that it may have."""
    schema = {
        "type": "object",
        "properties": {name: {"type": "array", "minItems": 1, "maxItems": most, "items": item}}
        | further,
        "required": [name],
        "additionalProperties": False,
    }
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


# ---- out ----


class RadiusCounts(BaseModel):
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
    takes silence into account; their submodels abstained. label_sets: for a model of labels, where
    the service lists them, the labels that r of the things counted can bring about, by r.
    """

    prediction: Label
    radius: int | None
    runner_up: Label | None
    critical_units: list[str] | None
    intervals: dict[str, tuple[float | None, float | None]] | None
    silent_units: list[str] | None = None
    label_sets: dict[str, list[Label]] | None = None


class Certified(BaseModel):
    """What is proven up to the radius, what the radius counts, and the rows in their order."""

    proves: str | None
    counts: RadiusCounts
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
    counts: RadiusCounts
    warnings: list[str]


class State(BaseModel):
    """Whether the service is alive, or ready for requests."""

    status: str


class Refusal(BaseModel):
    """What is wrong, in one sentence; the row (counted from 0) and column that it is about."""

    error: str
    row: int | None
    column: str | None


def answer_rows(
    names: Sequence[str],
    prediction: Array,
    proof: Certificates | None,
    critical: Array | None,
    intervals: Mapping[int, tuple[Array, Array]] | None,
    silent: Array | None,
    possible: Mapping[int, Array],
    classes: Sequence[Any] | Array,
) -> list[JsonObject]:
    """Return the rows of an answer, as Row describes them.

    ``names``: of the units; ``possible``: the labels that r of them can bring about, as a mask of
    ``classes``, by r.
    """

    def named(chosen: Array) -> list[str]:
        return [names[unit] for unit in np.flatnonzero(chosen).tolist()]

    runner_up = None if proof is None else proof.runner_up
    rows = []
    for i, value in enumerate(prediction):
        row: JsonObject = {
            "prediction": json_value(value),
            "radius": None if proof is None else int(proof.radius[i]),
            "runner_up": None if runner_up is None else json_value(runner_up[i]),
            "critical_units": None if critical is None else named(critical[:, i]),
            "intervals": None,
        }
        if intervals is not None:
            row["intervals"] = {
                str(r): [json_value(low[i]), json_value(high[i])]
                for r, (low, high) in intervals.items()
            }
        if silent is not None:
            row["silent_units"] = named(silent[i])
        if possible:
            row["label_sets"] = {
                str(r): [json_value(classes[k]) for k in np.flatnonzero(own[i]).tolist()]
                for r, own in possible.items()
            }
        rows.append(row)
    return rows


def what_is_proven(
    of_labels: bool, tolerance: float | None, relative: float | None, if_untouched: bool = False
) -> str | None:
    """Say what stays true while an attacker owns no more than the radius; None if nothing does.

    ``if_untouched``: the training table must not be attacked.
    """
    if of_labels:
        stays = "the prediction stays the same"
    elif tolerance is not None:
        stays = f"the prediction moves by at most {tolerance}"
    elif relative is not None:
        stays = f"the prediction moves by at most {relative} times its absolute value"
    else:
        return None
    return f"{stays}, if no attacker has touched the training table" if if_untouched else stays


def json_bytes(content: JsonObject) -> bytes:
    """Write a body."""
    return json.dumps(content, allow_nan=False).encode()


def json_response(content: JsonObject | bytes, status: int = 200) -> Response:
    """Return a body, or what becomes one, as a response."""
    body = content if isinstance(content, bytes) else json_bytes(content)
    return Response(body, status, media_type="application/json")


async def handle_refusal(request: Request, exc: Exception) -> Response:
    """Answer everything that goes wrong, for FastAPI."""
    return refusal_response(exc, getattr(request.app.state, "ask_at", "/certify"))


def refusal_response(exc: BaseException, ask_at: str = "/certify") -> Response:
    """Refuse; what went wrong inside the service is in its log and in no answer."""
    content: JsonObject = {
        "error": "the service failed at this request, and its log says why",
        "row": None,
        "column": None,
    }
    if isinstance(exc, RequestRefusedError):
        content = {"error": exc.detail, "row": exc.row, "column": exc.column}
    elif isinstance(exc, HTTPException):  # no such address, or not by this method
        content["error"] = f"{exc.detail}: use POST {ask_at} or GET /health"
    response = json_response(content, exc.status_code if isinstance(exc, HTTPException) else 500)
    response.headers.update(getattr(exc, "headers", None) or {})
    return response
