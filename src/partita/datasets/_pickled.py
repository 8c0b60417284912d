"""A pandas frame in a pickle, read as plain columns: without pandas, whose own reader knows the
pickles of some versions alone.

Unpickling runs whatever functions a pickle names. Here these are ours, whatever they are called:
they put arrays together and do nothing else. A pickle that names any other is refused."""

import io
import pickle
from typing import Any

import numpy as np

from .._support.types import Array
from ._progress import SourceError, reason


class _Stand:
    """In the place of a class of pandas: holds what it is made of."""

    def __init__(self, *parts: Any) -> None:
        self.parts = parts
        self.state: dict[str, Any] = {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.state = state


def _from_buffer(buffer: Any, dtype: Any, shape: Any, order: str) -> Array:
    return np.frombuffer(buffer, dtype=dtype).reshape(shape, order="F" if order == "F" else "C")


def _empty_array(*_: Any) -> Array:
    return np.empty(0, dtype=object)  # its content comes as its state


NAMES = {
    ("pandas.core.frame", "DataFrame"): _Stand,
    ("pandas.core.internals.managers", "BlockManager"): _Stand,
    ("pandas._libs.internals", "_unpickle_block"): _Stand,
    ("pandas.core.indexes.base", "_new_Index"): _Stand,
    ("pandas.core.indexes.base", "Index"): _Stand,
    ("pandas.core.indexes.range", "RangeIndex"): _Stand,
    ("numpy.core.numeric", "_frombuffer"): _from_buffer,
    ("numpy.core.multiarray", "_reconstruct"): _empty_array,
    ("numpy", "ndarray"): _Stand,
    ("numpy", "dtype"): np.dtype,
}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in NAMES:
            raise SourceError(f"the pickle names {module}.{name}, which is no part of a table")
        return NAMES[module, name]


def frame_columns(content: bytes) -> dict[str, Array]:
    """The columns of a pickled frame by name: numbers, or objects."""
    try:
        frame = _Reader(io.BytesIO(content)).load()
        blocks, axes = frame.state["_mgr"].parts
        names = axes[0].parts[1]["data"].tolist()
        columns: dict[str, Array] = {}
        for block in blocks:
            values, positions, _ = block.parts
            columns |= {
                names[position]: row
                for position, row in zip(positions.tolist(), values, strict=True)
            }
        return {name: columns[name] for name in names}
    except SourceError:
        raise
    except Exception as exc:  # a damaged pickle raises nearly anything
        raise SourceError(f"it is no pickled table: {reason(exc)}") from exc
