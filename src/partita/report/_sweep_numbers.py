"""What the report shows of a search: the best curve of each size, and the recommended settings."""

from .._support import JsonObject, json_value
from ..selection import Choice
from ._statements import FULL_MODEL


def sweep_numbers(choice: Choice, digits: int) -> JsonObject:
    """Return the curves of a search that was read from its file, and what it recommends."""
    objective, settings = choice.objective, choice.settings
    level = objective.level(choice.constant)
    curves = [
        {
            "name": FULL_MODEL if own[0].is_one_model else size,
            "share": [*objective.envelope(own), 0],
        }
        for size in dict.fromkeys(one.size for one in settings)
        if (own := [one for one in settings if one.size == size])
    ]
    entries = [objective.entry(one, r) for r, one in enumerate(choice.by_radius)]
    shown = ("radius", "score", "accuracy")
    return {
        "rows": choice.rows,
        "score": objective.words,
        "by_accuracy": objective.by_accuracy,
        "constant": None
        if level is None
        else {"answer": json_value(choice.constant["answer"], digits), "share": level},
        "curves": curves,
        "best": [
            {name: entry[name] for name in shown} | {"setting": entry["fit"]} for entry in entries
        ],
    }
