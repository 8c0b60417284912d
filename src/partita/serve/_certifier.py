"""The model behind the service: bodies of requests in, answers out, several requests at once.

Requests that wait together are certified together where that cannot change an answer by a bit, and
one by one elsewhere. Each is read by itself before, and a request that fails, fails alone: nothing
here may let one request see, stop or alter another.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ensemble import DETECT, FittedEnsemble, columns_that_may_lack, scores_rows_apart
from ..errors import InputError, SubmodelError
from ..rules import TopK
from ..tables import ColumnsTable
from ..workflow import CertifiedTable, known_kinds
from ._responses import RequestRefusedError, json_bytes, row_dicts, what_is_proven
from ._rows import columns_of, example_columns, parse_rows

MOST_ROWS_TOGETHER = 512  # later requests wait no longer than these take


@dataclass(frozen=True)
class Answer:
    """The body of a response, and what the metrics count of it."""

    content: bytes
    n_rows: int
    radii: tuple[int, ...]  # empty where there is no radius


class Certifier:
    """Certifies the rows of requests.

    Parameters
    ----------
    model : FeaturePartitionClassifier, FeaturePartitionRegressor or one that leaves units out
        Fitted on a frame.
    tolerance, relative : float, optional
        For a regressor: how far a prediction may move and still count as unchanged.
    max_rows : int
        The most rows in one request.
    silent : "detect" or list of str, optional
        Silent sources; rows need not have their columns.
    watch : callable, optional
        Told about certified rows, once each.
    """

    def __init__(
        self,
        model: FittedEnsemble,
        tolerance: float | None,
        relative: float | None,
        max_rows: int,
        silent: Any = None,
        watch: Callable[[CertifiedTable], None] | None = None,
    ) -> None:
        self._watch = watch
        if isinstance(model.rule_, TopK):
            raise InputError(
                "the model's rule is TopK, whose radius is about a given label: certify it in "
                "Python, with labels="
            )
        self.model, self.kinds = copy(model), known_kinds(model)
        self.model.verbose = 0
        self._statement = (tolerance, relative)
        self._max_rows = max_rows
        self._silent = silent
        self.may_lack = () if silent is None else tuple(columns_that_may_lack(model, silent))
        self._unread = () if silent == DETECT else self.may_lack  # sources known to be silent
        self._together = scores_rows_apart(model)
        counts = model.counts_
        self.proven = {
            "proves": what_is_proven(model, tolerance, relative),
            "counts": {"what": counts.what, "total": counts.total, "trusted": list(counts.trusted)},
        }

    def warm_up(self) -> None:
        """Certify one row: wrong settings are found, and compiled code is loaded."""
        row_dicts(self._certified(example_columns(self.kinds)))

    def answers(self, bodies: Sequence[bytes]) -> list[Answer | Exception]:
        """The answer to each body, or why there is none."""
        answers: list[Answer | Exception | None] = [None] * len(bodies)
        waiting: list[tuple[int, dict[str, Any]]] = []
        n_rows = 0
        for i, body in enumerate(bodies):
            try:
                columns = self._read(body)
            except Exception as exc:
                answers[i] = exc
                continue
            waiting.append((i, columns))
            n_rows += _length(columns)
            if not self._together or n_rows >= MOST_ROWS_TOGETHER:
                self._answer(waiting, answers)
                waiting, n_rows = [], 0
        self._answer(waiting, answers)
        return [answer for answer in answers if answer is not None]

    def _answer(
        self, waiting: list[tuple[int, dict[str, Any]]], answers: list[Answer | Exception | None]
    ) -> None:
        """Certify requests in one pass; each alone if that fails, so that it fails alone."""
        if not waiting:
            return
        try:
            parts = [columns for _, columns in waiting]
            joined = parts[0] if len(parts) == 1 else _joined(parts)
            certified = self._certified(joined)
            rows, radii = row_dicts(certified), _radii(certified)
        except Exception as exc:
            if len(waiting) == 1:
                answers[waiting[0][0]] = _refusal(exc)
                return
            for one in waiting:
                self._answer([one], answers)
            return
        if self._watch is not None:
            self._watch(certified)
        first = 0
        for i, columns in waiting:
            end = first + _length(columns)
            content = json_bytes(self.proven | {"rows": rows[first:end]})
            answers[i] = Answer(content, end - first, radii[first:end])
            first = end

    def _read(self, body: bytes) -> dict[str, Any]:
        try:
            rows = parse_rows(body, self._max_rows)
            return columns_of(rows, self.kinds, self.may_lack, self._unread)
        except RecursionError as exc:
            raise RequestRefusedError(
                422,
                "the body is nested too deep: a cell holds a number, a text, true, false or null",
            ) from exc
        except InputError as exc:
            raise _refusal(exc) from exc

    def _certified(self, columns: dict[str, Any]) -> CertifiedTable:
        table = ColumnsTable(columns, self.kinds)
        return CertifiedTable.of(self.model, table, *self._statement, silent=self._silent)


def _radii(certified: CertifiedTable) -> tuple[int, ...]:
    proof = certified.proof
    return () if proof is None else tuple(proof.radius.tolist())


def _length(columns: dict[str, Any]) -> int:
    return len(next(iter(columns.values())))


def _joined(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The rows of several requests, one after the other."""
    return {name: np.concatenate([columns[name] for columns in parts]) for name in parts[0]}


def _refusal(exc: Exception) -> Exception:
    """What is wrong with a request, as a refusal; a fault of the service stays as it is."""
    if not isinstance(exc, InputError | SubmodelError):
        return exc
    # a CellError has row and column; what a library says may go on for lines
    row, column = getattr(exc, "row", None), getattr(exc, "column", None)
    refused = RequestRefusedError(422, str(exc).splitlines()[0], row, column)
    refused.__cause__ = exc
    return refused
