"""Parts of a trusted sample to learn from and to judge by, when settings are chosen on it alone."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from .._support import Array
from ..errors import EmptyProofWarning, InputError, SoundnessWarning
from ..partition import SHARED_ROWS
from ..workflow import Task

SPLITS = 5
JUDGED = 1 / 3  # the share of rows to judge by
LEAST_ROWS = 30
LEAST_OF_A_LABEL = 3  # so that every part has one


def reference_splits(y: Array, task: Task, seed: int) -> list[tuple[Array, Array]]:
    """Rows to learn from and to judge by, several times; every label is in both parts."""
    if len(y) < LEAST_ROWS:
        raise InputError(
            f"reference has {len(y)} rows, too few to learn from one part and judge by the other: "
            f"give at least {LEAST_ROWS}"
        )
    counts = task.label_counts(y)
    if len(counts) == 1:
        raise InputError(
            f"reference holds no label but {next(iter(counts))!r}, so no setting can be judged: "
            "give rows of several labels"
        )
    for label, count in counts.items():
        if count < LEAST_OF_A_LABEL:
            rows = "one row" if count == 1 else f"{count} rows"
            raise InputError(
                f"reference has {rows} of the label {label!r}, too few to learn from one part and "
                f"judge by the other: give at least {LEAST_OF_A_LABEL} rows of every label, or none"
            )
    kind = StratifiedShuffleSplit if counts else ShuffleSplit
    splits = kind(SPLITS, test_size=JUDGED, random_state=seed).split(y, y if counts else None)
    return [(np.sort(learn), np.sort(held)) for learn, held in splits]


@contextmanager
def without_warnings_of_trials() -> Iterator[None]:
    """Leave out what a fit warns of that is no news of one trial among many.

    Proofs that are empty are judged elsewhere; and where the rows that are learnt from are trusted,
    a partition may be informed by the same rows.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyProofWarning)
        warnings.filterwarnings("ignore", SHARED_ROWS, SoundnessWarning)
        yield


def mean_shares(same: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The first of several results with its ``accuracy`` and ``balanced`` averaged over all."""
    means = {name: mean([one[name] for one in same]) for name in ("accuracy", "balanced")}
    return {**same[0], **means}


def mean(values: Sequence[float | None]) -> float | None:
    """The mean over splits; None where a value has none."""
    known = [value for value in values if value is not None]
    return None if len(known) < len(values) else float(np.mean(known))


def mostly(flags: Sequence[bool]) -> bool:
    """Whether at least half of the splits say so."""
    return 2 * sum(flags) >= len(flags)
