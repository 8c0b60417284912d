"""Rows of JSON as columns, each cell read by the kind of its column.

Nothing is guessed from a batch: no row may change how another is read. A body is refused wherever
two readers could take it differently, since a proof is about one table.
"""

import json
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from ..tables import BOOLEAN, NUMBER, TEXT, TIME, read_cells
from ._responses import RequestRefusedError

SHOWN_NAME = 80  # characters of a name that a request made up
CELL_SCHEMAS = {
    NUMBER: {"type": ["number", "null"]},
    BOOLEAN: {"enum": [True, False, 0, 1, None]},
    TIME: {
        "type": ["string", "null"],
        "description": "such as 2026-01-31 or 2026-01-31T12:00:00; without a zone it is UTC",
    },
    TEXT: {"type": ["string", "null"]},
}


def parse_rows(body: bytes, max_rows: int) -> list[Any]:
    """The list of rows in a request's body."""
    return listed_as("rows", parse_body(body), max_rows, '[{"column": value, ...}, ...]')


def parse_body(body: bytes) -> Any:
    """What a request's body holds."""
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
    name: str, content: Any, most: int, shape: str, further: Sequence[str] = ()
) -> list[Any]:
    """The list that a body holds under a name, and nothing beside it but what ``further`` names."""
    known = isinstance(content, dict) and name in content and {*content} <= {name, *further}
    listed = content[name] if known else None
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


def columns_of(
    rows: list[Any],
    kinds: dict[str, str],
    may_lack: Collection[str] = (),
    unread: Collection[str] = (),
) -> dict[str, Any]:
    """The rows as columns, if each has exactly the model's columns.

    A row need not have those in ``may_lack``, which belong to sources that may be silent: they are
    missing then. Those in ``unread`` are missing whatever stands there.
    """
    for i, row in enumerate(rows):
        _check_row(i, row, kinds, may_lack)
    return {
        name: read_cells([None if name in unread else row.get(name) for row in rows], kind, name)
        for name, kind in kinds.items()
    }


def _check_row(i: int, row: Any, kinds: dict[str, str], may_lack: Collection[str]) -> None:
    if not isinstance(row, dict):
        raise RequestRefusedError(
            422,
            f"row {i} is not an object: give {{column: value, ...}} with the model's {len(kinds)} "
            "columns",
            i,
        )
    if None in row:
        name = row[None]
        raise RequestRefusedError(
            422, f"row {i} has the column {name[:SHOWN_NAME]!r} twice: give it once", i, name
        )
    for name in kinds:
        if name not in row and name not in may_lack:
            raise RequestRefusedError(
                422,
                f"row {i} lacks the column {name!r}: add it, with null where there is no value "
                "(a service with --silent detect answers without silent sources)",
                i,
                name,
            )
    for name in row:
        if name not in kinds:
            raise RequestRefusedError(
                422,
                f"row {i} has the column {name[:SHOWN_NAME]!r}, which the model was not fitted "
                "with: leave it out",
                i,
                name,
            )


def _object(pairs: list[tuple[str, Any]]) -> dict[str | None, Any]:
    """An object of JSON; one in which a name stands twice becomes {None: name}.

    Two readers may take different values of the two, and a proof is about one.
    """
    if len(dict(pairs)) == len(pairs):
        return dict(pairs)
    return {None: Counter(name for name, _ in pairs).most_common(1)[0][0]}


def _whole_number(digits: str) -> int | float:
    """JSON has one kind of number: one too large for a float is infinite, however it is written."""
    return int(digits) if len(digits) < 300 else float(digits)


def example_columns(kinds: dict[str, str]) -> dict[str, Any]:
    """One row that could be asked about: zeros, empty texts, missing times."""
    example = {TEXT: "", TIME: None}
    return {name: read_cells([example.get(kind, 0)], kind, name) for name, kind in kinds.items()}


def request_schema(
    kinds: dict[str, str], max_rows: int, may_lack: Collection[str] = ()
) -> dict[str, Any]:
    """The body of a request, as OpenAPI describes it."""
    row = {
        "type": "object",
        "properties": {name: CELL_SCHEMAS[kind] for name, kind in kinds.items()},
        "required": [name for name in kinds if name not in may_lack],
        "additionalProperties": False,
    }
    rows = {"type": "array", "minItems": 1, "maxItems": max_rows, "items": row}
    return {
        "type": "object",
        "properties": {"rows": rows},
        "required": ["rows"],
        "additionalProperties": False,
    }
