"""A pickled pandas frame, read as plain columns and without pandas.

pandas' own reader knows the pickles of some versions only, and unpickling runs whatever functions a
pickle names. Here these functions are ours, whatever they are called: they put arrays together and
do nothing else. A pickle that names any other is refused.
"""

import io
import pickle
from typing import Any

import numpy as np

from .._support.types import Array
from ._fetch_limits import FetchError, reason


class _Placeholder:
    """Stands for a class of pandas: holds what it is made of."""

    def __init__(self, *parts: Any) -> None:
        self.parts = parts
        self.state: dict[str, Any] = {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.state = state


def _array_from_buffer(buffer: Any, dtype: Any, shape: Any, order: str) -> Array:
    return np.frombuffer(buffer, dtype=dtype).reshape(shape, order="F" if order == "F" else "C")


def _empty_array(*_: Any) -> Array:
    return np.empty(0, dtype=object)  # its content comes as its state


ALLOWED = {
    ("pandas.core.frame", "DataFrame"): _Placeholder,
    ("pandas.core.internals.managers", "BlockManager"): _Placeholder,
    ("pandas._libs.internals", "_unpickle_block"): _Placeholder,
    ("pandas.core.indexes.base", "_new_Index"): _Placeholder,
    ("pandas.core.indexes.base", "Index"): _Placeholder,
    ("pandas.core.indexes.range", "RangeIndex"): _Placeholder,
    ("numpy.core.numeric", "_frombuffer"): _array_from_buffer,
    ("numpy.core.multiarray", "_reconstruct"): _empty_array,
    ("numpy", "ndarray"): _Placeholder,
    ("numpy", "dtype"): np.dtype,
    ("builtins", "slice"): slice,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ALLOWED:
            raise FetchError(f"the pickle names {module}.{name}, which is no part of a table")
        return ALLOWED[module, name]


def frame_columns(content: bytes) -> dict[str, Array]:
    """The columns of a pickled frame by name: numbers, or objects."""
    try:
        frame = _Unpickler(io.BytesIO(content)).load()
        blocks, axes = frame.state["_mgr"].parts
        names = axes[0].parts[1]["data"].tolist()
        columns: dict[str, Array] = {}
        for block in blocks:
            values, positions, _ = block.parts
            own = np.arange(len(names))[positions]  # indices, or a slice of them
            columns |= {
                names[position]: row for position, row in zip(own.tolist(), values, strict=True)
            }
        return {name: columns[name] for name in names}
    except FetchError:
        raise
    except Exception as exc:  # a damaged pickle raises nearly anything
        raise FetchError(f"not a pickled table: {reason(exc)}") from exc
