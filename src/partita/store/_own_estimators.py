"""Submodels of partita's own kinds, read from their skops files without skops.

Importing skops imports every module of scikit-learn, which takes longer than all else a service
does before its first answer. These files hold texts, numbers, lists, dicts and arrays, and one
object of a kind named here; anything else is left to skops. No code from a file is run, and
arrays are read without pickle.
"""

import io
import json
import zipfile
from typing import Any

import numpy as np

from ..ensemble import (
    FixedVote,
    TableBoostingClassifier,
    TableBoostingRegressor,
    TableTreesClassifier,
    TableTreesRegressor,
)

PROTOCOL = 2  # of skops' files; a later one is left to skops
OWN = {
    ("partita.ensemble", kind.__name__): kind
    for kind in (
        TableBoostingClassifier,
        TableBoostingRegressor,
        TableTreesClassifier,
        TableTreesRegressor,
        FixedVote,
    )
}


class _OtherContentError(Exception):
    """The file holds something that only skops reads."""


def own_estimator(content: bytes, schema_name: str) -> Any:
    """The estimator in a skops file; None where skops must read it."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        schema = json.loads(archive.read(schema_name))
        if not isinstance(schema, dict) or schema.get("protocol") != PROTOCOL:
            return None
        kind = OWN.get((schema.get("__module__", ""), schema.get("__class__", "")))
        if kind is None or schema.get("__loader__") != "ObjectNode":
            return None
        try:
            state = _value(schema["content"], archive)
        except (_OtherContentError, KeyError):
            return None
    instance: Any = kind.__new__(kind)
    if hasattr(instance, "__setstate__"):
        instance.__setstate__(state)
    else:
        instance.__dict__.update(state)
    return instance


def _value(node: Any, archive: zipfile.ZipFile) -> Any:
    loader, content = node["__loader__"], node.get("content")
    kind = (node["__module__"], node["__class__"])
    if loader == "JsonNode":
        return json.loads(content)
    if loader == "ListNode" and kind == ("builtins", "list"):
        return [_value(one, archive) for one in content]
    if loader == "DictNode" and kind == ("builtins", "dict"):
        keys = node["key_types"]["content"]
        if all((key["__module__"], key["__class__"]) == ("builtins", "str") for key in keys):
            return {key: _value(one, archive) for key, one in content.items()}
    if loader == "NdArrayNode" and kind == ("numpy", "ndarray") and node["type"] == "numpy":
        return np.load(io.BytesIO(archive.read(node["file"])), allow_pickle=False)
    raise _OtherContentError
