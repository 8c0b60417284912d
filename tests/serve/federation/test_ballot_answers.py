"""Answers of parties: written and read bit for bit, and anything else is no answer."""

import json

import numpy as np
import pytest

from partita.ensemble._submodels import LOWEST
from partita.serve.federation._client import (
    MalformedReplyError,
    answer_bytes,
    most_bytes,
    read_answer,
)

CLASSES = ["ill", "well"]
IDENTITY = "0f" * 32


def test_scores_come_back_bit_for_bit():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**32, (500, 2), dtype=np.uint32).view(np.float32)
    ballots = np.where(np.isfinite(bits), bits, np.float32(0.1))
    ballots[3], ballots[4] = np.nan, (LOWEST, -LOWEST)
    back = read_answer(answer_bytes(CLASSES, ballots, IDENTITY), len(ballots), CLASSES)[0]
    assert back.dtype == np.float32
    assert np.array_equal(back.view(np.uint32)[4:], ballots.view(np.uint32)[4:])
    assert np.isnan(back[3]).all()
    assert np.isnan(back).sum() == 2


def test_values_come_back_bit_for_bit():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**63, 500, dtype=np.uint64).view(np.float64)
    values = np.where(np.isfinite(bits), bits, 0.1)
    back = read_answer(answer_bytes(None, np.append(values, np.nan), IDENTITY), 501, None)[0]
    assert np.array_equal(back[:-1].view(np.uint64), values.view(np.uint64))
    assert np.isnan(back[-1])


@pytest.mark.parametrize("classes", [None, ["a"], [f'"é{k}' for k in range(30)]])
def test_no_honest_answer_is_too_large(classes):
    longest = -1.2345678901234567e-300 if classes is None else np.float32(-1.17549435e-38)
    shape = (50,) if classes is None else (50, len(classes))
    ballots = np.full(shape, longest)
    assert len(answer_bytes(classes, ballots, IDENTITY)) <= most_bytes(50, classes)
    assert most_bytes(50, classes) < 3000 + 50 * 40 * len(classes or "1")


def body(ballots, classes=CLASSES, **more):
    answer = {"classes": classes, "ballots": ballots, "identity": IDENTITY}
    return json.dumps(answer | more).encode()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not valid JSON"),
        (b"\xff\xfe\x00", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b'{"classes": ["ill", "well"], "ballots": [[1, NaN], [0, 1]]}', "not valid JSON"),
        (b'{"classes": ["ill", "well"], "ballots": [[1, Infinity], [0, 1]]}', "not valid JSON"),
        (
            b'{"classes": ["ill", "well"], "identity": "'
            + IDENTITY.encode()
            + b'", "ballots": [[1, 1e999], [0, 1]]}',
            "not finite",
        ),
        (
            b'{"classes": ["ill", "well"], "identity": "'
            + IDENTITY.encode()
            + b'", "ballots": [[1, 1e39], [0, 1]]}',
            "not finite",
        ),
        (body([[1, 10**400], [0, 1]]), "not finite"),
        (body([[1, int("9" * 4000)], [0, 1]]), "not finite"),
        (b"5", "without classes, ballots and identity"),
        (b"{}", "without classes, ballots and identity"),
        (body([[1, 0], [0, 1]], also=1), "without classes, ballots and identity"),
        (b'{"classes": ["ill", "well"], "ballots": [[1, 0], [0, 1]]}', "ballots and identity"),
        *(
            (body([[1, 0], [0, 1]], identity=wrong), "without a valid identity")
            for wrong in (None, 5, "", IDENTITY.upper(), IDENTITY + "0", IDENTITY[:-1] + "\n", [])
        ),
        (body([[1, 0], [0, 1]], ["well", "ill"]), "other classes"),
        (body([[1, 0], [0, 1]], ["ill"]), "other classes"),
        (body([[1, 0], [0, 1]], None), "other classes"),
        (body([[1, 0], [0, 1]], "ill well"), "other classes"),
        (body([[1, 0], [0, 1]], [["ill"], "well"]), "other classes"),
        (body([[1, 0]]), "another number of rows"),
        (body([[1, 0]] * 3), "another number of rows"),
        (body({"0": [1, 0], "1": [1, 0]}), "another number of rows"),
        (body(None), "another number of rows"),
        (body([[1, 0], [1]]), "wrong shape"),
        (body([[1, 0], [1, 0, 0]]), "wrong shape"),
        (body([[1, 0], []]), "wrong shape"),
        (body([[1, 0], 1]), "wrong shape"),
        (body([[1, 0], "10"]), "wrong shape"),
        (body([[1, 0], [1, None]]), "not a number"),
        (body([[1, 0], [1, "0"]]), "not a number"),
        (body([[1, 0], [1, True]]), "not a number"),
        (body([[1, 0], [1, [0]]]), "not a number"),
    ],
)
def test_a_malformed_answer_is_no_answer(content, reason):
    with pytest.raises(MalformedReplyError, match=reason):
        read_answer(content, 2, CLASSES)


@pytest.mark.parametrize("ballots", [[[1], 2], ["1", 2], [True, 2], [1], [1, 2, 3]])
def test_a_malformed_value_is_no_answer(ballots):
    with pytest.raises(MalformedReplyError):
        read_answer(body(ballots, None), 2, None)


def test_labels_that_are_equal_to_python_are_others():
    for classes in ([1.0, 0.0], [True, False]):
        with pytest.raises(MalformedReplyError, match="other classes"):
            read_answer(body([[1, 0]], classes), 1, [1, 0])
