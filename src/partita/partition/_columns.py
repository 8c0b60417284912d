"""A table's columns, which users name in several ways: by name, by position, or by label."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import InputError


class Columns:
    """Finds columns by name or position; by label, where a frame's labels are not all strings.

    Parameters
    ----------
    names : sequence of str
        The columns' names.
    labels : sequence, optional
        A frame's labels, where not all of them are strings. A whole number then means a label, as
        it does for the frame, and never a position.
    """

    def __init__(self, names: Sequence[str], labels: Sequence[Any] | None = None) -> None:
        self.names = list(names)
        self._by_name = {name: position for position, name in enumerate(names)}
        self._by_label = (
            None if labels is None else {label: position for position, label in enumerate(labels)}
        )

    @classmethod
    def of(cls, names: "Sequence[str] | Columns") -> "Columns":
        """Columns as they are, or made of their names."""
        return names if isinstance(names, Columns) else cls(names)

    def position(self, column: Any, argument: str) -> int:
        """Where a column stands in the table; an InputError that names the argument if nowhere."""
        position = -1
        if (
            self._by_label is not None
            and getattr(column, "__hash__", None) is not None
            and column in self._by_label
        ):
            position = self._by_label[column]
        elif isinstance(column, str):
            position = self._by_name.get(column, -1)
        elif (
            self._by_label is None
            and isinstance(column, int | np.integer)
            and not isinstance(column, bool)
        ):
            position = int(column)
        if not 0 <= position < len(self.names):
            raise InputError(
                f"{argument} names the column {column!r}, which the table does not have"
            )
        return position


def check_listed(values: Any, argument: str) -> Iterable[Any]:
    """The values of an argument that must be a list; an InputError for a string or a scalar."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{argument} is {values!r}: give a list")
    return values
