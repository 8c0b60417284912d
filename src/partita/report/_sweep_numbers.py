"""What the report shows of a sweep: the best curve of each number of submodels, and the advice."""

from collections.abc import Mapping
from typing import Any

from .._support import json_value
from ..selection import best
from ._statements import FULL_MODEL


def sweep_numbers(sweep: Mapping[str, Any], digits: int) -> dict[str, Any]:
    """The curves of a sweep that was read from its file, and the recommended settings."""
    score, constant, settings = sweep["score"], sweep["constant"], sweep["settings"]
    by_size = {
        size: best([one for one in settings if one["submodels"] == size], score)
        for size in sorted({one["submodels"] for one in settings})
    }
    level = None if constant is None or score.label is not None else constant[score.name]
    return {
        "rows": sweep["held_out"],
        "score": score.words,
        "by_accuracy": score.name == "accuracy",
        "constant": None
        if level is None
        else {"answer": json_value(constant["answer"], digits), "share": level},
        "curves": [
            {
                "name": FULL_MODEL if size == 1 else f"{size} submodels",
                "share": [*(entry["score"] for entry in entries), 0],
            }
            for size, entries in by_size.items()
        ],
        "best": [
            {
                "radius": entry["radius"],
                "score": entry["score"],
                "accuracy": entry["accuracy"],
                "setting": entry["fit"],
            }
            for entry in sweep["best"]
        ],
    }
