"""What a party answers: the body of /ballot, written and read.

``{"classes": [...], "ballots": [[...], null, ...], "identity": "9f..."}`` with one score per class,
or ``{"classes": null, "ballots": [1.5, null, ...], "identity": "9f..."}`` with one value. Null is a
row that the party does not have. A party may send anything: an answer that is not exactly this is
no answer, and nothing in it is repaired, since a ballot that was made up here would be nobody's.

The identity is the challenge of the request under the party's secret (HMAC with SHA-256): two
answers to one challenge with one identity come from one secret, so from one party. What differs
proves nothing against a party that makes up secrets, and no party can take back what was equal.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._support import Array
from ._asking import MalformedReplyError

NUMBER_BYTES = 28  # the longest float, a comma and a space
ROW_BYTES = 8
FIXED_BYTES = 1024


def identity_of(secret: bytes, challenge: bytes | None) -> str | None:
    """What a party with this secret answers to a challenge."""
    return None if challenge is None else hmac.new(secret, challenge, hashlib.sha256).hexdigest()


def answer_bytes(
    classes: Sequence[Any] | None, ballots: Array, identity: str | None = None
) -> bytes:
    """The body of an answer; rows of NaN become null."""
    missing = np.asarray(np.isnan(ballots).reshape(len(ballots), -1).any(axis=1))
    # a float32 has the same value as a float64, which JSON gives back bit for bit
    rows = [None if gone else row for gone, row in zip(missing, ballots.tolist(), strict=True)]
    names = None if classes is None else list(classes)
    answer = {"classes": names, "ballots": rows, "identity": identity}
    return json.dumps(answer, allow_nan=False).encode()


def most_bytes(n_rows: int, classes: Sequence[Any] | None) -> int:
    """The length that no honest answer exceeds."""
    n_numbers = 1 if classes is None else len(classes)
    named = 0 if classes is None else len(json.dumps(list(classes)))
    return FIXED_BYTES + named + n_rows * (ROW_BYTES + NUMBER_BYTES * n_numbers)


def read_answer(content: bytes, n_rows: int, classes: Sequence[Any] | None) -> tuple[Array, str]:
    """An answer as ballots, float32 (rows, classes) or float64 (rows,) for values, and an identity.

    Rows that the party does not have are NaN. Raises :class:`MalformedReplyError`.
    """
    try:
        answer = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as exc:
        raise MalformedReplyError("an answer that is not valid JSON") from exc
    if not isinstance(answer, dict) or set(answer) != {"classes", "ballots", "identity"}:
        raise MalformedReplyError("an answer without classes, ballots and identity")
    if not _same_classes(answer["classes"], classes):
        raise MalformedReplyError("an answer for other classes")
    identity, rows = answer["identity"], answer["ballots"]
    if not (isinstance(identity, str) and re.fullmatch("[0-9a-f]{64}", identity)):
        raise MalformedReplyError("an answer without a valid identity")
    if not isinstance(rows, list) or len(rows) != n_rows:
        raise MalformedReplyError("an answer for another number of rows")
    width = 1 if classes is None else len(classes)
    ballots = np.full((n_rows, width), np.nan)
    for i, row in enumerate(rows):
        if row is not None:
            ballots[i] = _numbers([row] if classes is None else row, width)
    with np.errstate(over="ignore"):
        array = ballots[:, 0] if classes is None else ballots.astype(np.float32)
    if np.isinf(array).any():
        raise MalformedReplyError("a score that is not finite")
    return array, identity


def _numbers(row: Any, width: int) -> list[float]:
    if not isinstance(row, list) or len(row) != width:
        raise MalformedReplyError("a ballot of the wrong shape")
    if not all(type(cell) in (int, float) for cell in row):
        raise MalformedReplyError("a score that is not a number")
    try:
        return [float(cell) for cell in row]
    except OverflowError as exc:
        raise MalformedReplyError("a score that is not finite") from exc


def _same_classes(given: Any, expected: Sequence[Any] | None) -> bool:
    if given is None or expected is None:
        return given is None and expected is None
    if not isinstance(given, list) or len(given) != len(expected):
        return False
    # 1, 1.0 and true are equal to Python
    return all(
        type(one) is type(other) and one == other
        for one, other in zip(given, expected, strict=True)
    )


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)
