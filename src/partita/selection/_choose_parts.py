"""Candidates that were judged already, stored one by one so that an interrupted choice resumes."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .._support import json_value, write_atomic
from ._candidates import Candidate
from ._choice import Evaluation


@dataclass(frozen=True)
class ResultCache:
    """Where candidates that were judged are stored until all are.

    Attributes
    ----------
    folder : Path
        Where the files go.
    key : str
        A hash of everything that the results depend on.
    check : callable
        Raises an error if results no longer belong to the key.
    """

    folder: Path
    key: str
    check: Callable[[], None] = lambda: None

    def read(self, number: int, candidate: Candidate) -> list[Evaluation] | None:
        """What was judged of a candidate; None where that is not known."""
        try:
            stored = json.loads(self._place(number).read_bytes())
        except (OSError, ValueError):  # there is none, or it was damaged
            return None
        if stored["options"] != candidate.options:
            return None
        return [
            Evaluation(**one, estimator=candidate.estimator(candidate.variants[k]))
            for k, one in stored["judged"]
        ]

    def write(self, number: int, candidate: Candidate, judged: list[Evaluation]) -> None:
        """Store what was judged of a candidate, its variants by their positions."""
        self.check()
        plain = [
            (k, {name: value for name, value in vars(one).items() if name != "estimator"})
            for k, one in enumerate(judged)
        ]
        content = json_value({"options": candidate.options, "judged": plain})
        write_atomic(self._place(number), json.dumps(content).encode())

    def _place(self, number: int) -> Path:
        return self.folder / f"candidate-{number:03d}-{self.key}.json"
