"""Docstrings on the API pages: which members are shown, and links to the theory.

A class's page shows what partita defines, its base classes included. What a class inherits from
scikit-learn, dataclasses or Python is documented there. "Theory, section 4" becomes a link.
"""

import re
from typing import Any

from sphinx.application import Sphinx

SECTIONS = {
    "1": "setting",
    "2": "gap-certificate",
    "3": "runoff-and-topk",
    "4": "tournament",
    "5": "regression",
    "6": "labels",
    "7": "rows",
    "8": "ablation",
    "9": "collective",
    "10": "leaving-out",
    "11": "silence",
    "12": "fallback",
    "13": "label-sets",
}
REFERENCE = re.compile(r"\b[Tt]heory, sections?((?:,| and| to)? \d+\b)+")


def skip(
    app: Sphinx, what: str, name: str, obj: Any, skipped: bool, options: Any
) -> bool | None:
    """Tell autodoc to leave out members from other libraries."""
    if what != "class":
        return None
    function = (
        obj.fget if isinstance(obj, property) else getattr(obj, "__func__", obj)
    )
    module = getattr(function, "__module__", None)
    if module is not None and not str(module).startswith("partita"):
        return True
    return None


def link(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Turn the numbers of sections into links."""
    for position, line in enumerate(lines):
        lines[position] = REFERENCE.sub(_linked, line)


def _linked(reference: re.Match[str]) -> str:
    return re.sub(
        r"\d+",
        lambda number: f":doc:`{number[0]} </theory/{SECTIONS[number[0]]}>`",
        reference[0],
    )


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect both; links come after numpydoc has made sections of the docstring."""
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-docstring", link, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
