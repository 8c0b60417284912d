"""Requests that name rows by their keys, as parties and their coordinator take them."""

from typing import Any

from ..errors import InputError
from ._federation import check_keys
from ._responses import RequestRefusedError
from ._rows import parse_list


def parse_keys(body: bytes, max_rows: int) -> list[str]:
    """The keys in a request's body, as texts."""
    try:
        return check_keys(parse_list(body, "keys", max_rows, "[key, ...]"))
    except RecursionError as exc:
        raise RequestRefusedError(
            422, "the body is nested too deep: a key is a text or a whole number"
        ) from exc
    except InputError as exc:
        raise RequestRefusedError(422, str(exc)) from exc


def keys_schema(max_rows: int) -> dict[str, Any]:
    """The body of a request, as OpenAPI describes it."""
    key = {"type": ["string", "integer"]}
    keys = {"type": "array", "minItems": 1, "maxItems": max_rows, "items": key}
    schema = {
        "type": "object",
        "properties": {"keys": keys},
        "required": ["keys"],
        "additionalProperties": False,
    }
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
