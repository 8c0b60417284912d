"""Requests that name rows by their keys, as parties and their coordinator take them."""

import re
from typing import Any

from ..errors import InputError
from ._federation import check_keys
from ._responses import RequestRefusedError
from ._rows import listed_as, parse_body

CHALLENGE = "[0-9a-f]{64}"


def parse_keys(body: bytes, max_rows: int) -> list[str]:
    """The keys in a request's body, as texts."""
    return _parse(body, max_rows)[0]


def parse_question(body: bytes, max_rows: int) -> tuple[list[str], bytes | None]:
    """The keys that a party is asked for, and the challenge, if there is one."""
    keys, content = _parse(body, max_rows, "challenge")
    if "challenge" not in content:
        return keys, None
    challenge = content["challenge"]
    if not (isinstance(challenge, str) and re.fullmatch(CHALLENGE, challenge)):
        raise RequestRefusedError(
            422,
            "the challenge is not 64 hexadecimal digits in lower case: send such, or leave it out",
        )
    return keys, bytes.fromhex(challenge)


def _parse(body: bytes, max_rows: int, *further: str) -> tuple[list[str], dict[str, Any]]:
    try:
        content = parse_body(body)
        return check_keys(listed_as("keys", content, max_rows, "[key, ...]", further)), content
    except RecursionError as exc:
        raise RequestRefusedError(
            422, "the body is nested too deep: a key is a text or a whole number"
        ) from exc
    except InputError as exc:
        raise RequestRefusedError(422, str(exc)) from exc


def keys_schema(max_rows: int, **further: Any) -> dict[str, Any]:
    """The body of a request, as OpenAPI describes it; with further entries that it may have."""
    key = {"type": ["string", "integer"]}
    keys = {"type": "array", "minItems": 1, "maxItems": max_rows, "items": key}
    schema = {
        "type": "object",
        "properties": {"keys": keys} | further,
        "required": ["keys"],
        "additionalProperties": False,
    }
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
