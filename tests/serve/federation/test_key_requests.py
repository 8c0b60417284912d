"""Requests that name rows by their keys."""

import json

import pytest

from partita.serve._rows import RequestRefusedError, list_schema
from partita.serve.federation._apps import KEY_SCHEMA, parse_keys


def test_keys_are_texts():
    assert parse_keys(b'{"keys": ["a", 7, "7", "\\u00e9"]}', 4) == ["a", "7", "7", "é"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"[" * 100_000, 422),
        (b'{"keys": ' + b"[" * 900 + b"]" * 900 + b"}", 422),
        (b'{"keys": ["a"], "keys": ["b"]}', 422),
        (b'{"keys": ["a"], "rows": []}', 422),
        (b'{"keys": ["a"], "challenge": "' + b"0" * 64 + b'"}', 422),  # for parties only
        (b'{"keys": ["\\ud800"]}', 422),
        (b'{"keys": [null]}', 422),
        (b'{"keys": [true]}', 422),
        (b'{"keys": [1e3]}', 422),
        (b'{"keys": {"a": 1}}', 422),
        (b'{"keys": ["a", "b", "c", "d", "e"]}', 413),
    ],
)
def test_anything_else_is_refused(body, status):
    with pytest.raises(RequestRefusedError) as caught:
        parse_keys(body, 4)
    assert caught.value.status_code == status
    assert "\n" not in caught.value.detail


def test_the_schema_says_so():
    schema = json.dumps(list_schema("keys", KEY_SCHEMA, 4))
    assert '"maxItems": 4' in schema
    assert '"required": ["keys"]' in schema
