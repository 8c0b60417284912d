"""Runs a deployment from data to decision, and writes what it found.

The page, the figures and the JSON file hold the same numbers; all of them come from this run.
"""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill
from typing import Any

from .._support import json_value, log, write_atomic
from ..errors import InputError
from . import _air, _credit, _gas
from ._answer import WIDTH, Answer
from ._answers import accuracy, certified_answer, cost
from ._attack_answer import audited
from ._decision import decide
from ._deployment import Deployment
from ._silence_answer import silence
from ._study import Study, make_study

STORIES: dict[str, Any] = {"gas": _gas, "air": _air, "credit": _credit}


@dataclass(frozen=True, eq=False)
class Story:
    """What :func:`run_deployment` found.

    Attributes
    ----------
    study : Study
        The data and the fitted models.
    answers : dict of str to Answer
        In order; each can be printed and plotted.
    decision : str
        What to do, in a few sentences.
    seconds : float
        How long it took.
    """

    study: Study = field(repr=False)
    answers: dict[str, Answer] = field(repr=False)
    decision: str
    seconds: float

    def __str__(self) -> str:
        return fill(self.decision, WIDTH)

    @property
    def deployment(self) -> Deployment:
        """The data."""
        return self.study.deployment

    def about(self) -> str:
        """The data in one sentence, in lines."""
        own = self.deployment
        trusted = f"; trusted: {', '.join(own.trusted)}" if own.trusted else ""
        return fill(
            f"{len(own.y_train):,} rows to learn from, {len(own.y_valid):,} to choose by, "
            f"{len(own.y_test):,} to test on, taken at random with a fixed seed where there are "
            f"more; {own.X_train.shape[1]} columns of {own.sources(len(own.units))}{trusted}.",
            WIDTH,
        )

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data, for JSON."""
        own = self.deployment
        found = {
            "name": own.name,
            "title": own.title,
            "question": own.question,
            "rows": {
                "train": len(own.y_train),
                "valid": len(own.y_valid),
                "test": len(own.y_test),
            },
            "sources": {name: list(columns) for name, columns in own.units.items()},
            "trusted": list(own.trusted),
            "model": self.study.main.name,
            "answers": {
                key: {"question": one.question, "text": one.text, **one.numbers}
                for key, one in self.answers.items()
            },
            "decision": self.decision,
            "seconds": round(self.seconds, 1),
        }
        plain: dict[str, Any] = json_value(found, non_finite=str)
        return plain

    def markdown(self) -> str:
        """The page."""
        own = self.deployment
        sections = [answer.markdown() for answer in self.answers.values()]
        head = [f"# {own.title}", "", own.question, "", self.about(), ""]
        return "\n".join([*head, *sections, "## What to do", "", self.decision, ""])

    def write(self, out: Path) -> None:
        """Write the page, the figures and the JSON file into a folder."""
        out.mkdir(parents=True, exist_ok=True)
        for key, answer in self.answers.items():
            if answer.draw is not None:
                write_atomic(out / f"{key}.png", answer.png())
        write_atomic(out / "README.md", self.markdown().encode())
        text = json.dumps(self.as_dict(), indent=1, allow_nan=False)
        write_atomic(out / "results.json", text.encode())


def load_deployment(
    name: str, data: str | os.PathLike[str] | None = None, rows: int | None = None
) -> Deployment:
    """Load one of the deployments that the library tells as stories.

    Parameters
    ----------
    name : {"gas", "air", "credit"}
        A gas detector of 16 ageing sensors; a city's air network of 12 stations; loans.
    data : path, optional
        Where the data is: for ``gas`` and ``air`` the file, for ``credit`` a cache folder. By
        default where the loaders look.
    rows : int, optional
        How many rows to learn from; by default enough for a good model within a minute.

    Returns
    -------
    Deployment
        The data, split.

    Raises
    ------
    InputError
        If there is no such deployment, or its data is not found.

    See Also
    --------
    run_deployment : Fits, certifies and attacks it.

    Examples
    --------
    >>> from partita.deployments import load_deployment
    >>> load_deployment("gas").sources(16)  # doctest: +SKIP
    '16 sensors'
    """
    if name not in STORIES:
        raise InputError(f"name is {name!r}: give one of {', '.join(STORIES)}")
    options = {} if rows is None else {"rows": rows}
    deployment: Deployment = STORIES[name].build(data, **options)
    return deployment


def run_deployment(
    name: str,
    out: str | os.PathLike[str] | None = None,
    *,
    data: str | os.PathLike[str] | None = None,
    rows: int | None = None,
    verbose: int = 0,
) -> Story:
    """Run a deployment from data to decision.

    Parameters
    ----------
    name : {"gas", "air", "credit"}
        As for :func:`load_deployment`.
    out : path, optional
        A folder for the page, the figures and ``results.json``; by default nothing is written.
    data : path, optional
        As for :func:`load_deployment`.
    rows : int, optional
        The same.
    verbose : int, default=0
        1: progress on standard error.

    Returns
    -------
    Story
        With ``answers``, ``decision`` and the fitted models.

    Raises
    ------
    InputError
        If there is no such deployment, or its data is not found.

    See Also
    --------
    load_deployment : The data alone.

    Examples
    --------
    >>> from partita.deployments import run_deployment
    >>> story = run_deployment("credit")  # doctest: +SKIP
    >>> print(story.decision)  # doctest: +SKIP
    Do not deploy an ensemble here for its proofs: ...
    """
    started = time.perf_counter()
    _check_out(out)
    deployment = load_deployment(name, data, rows)
    story = STORIES[name]
    study = make_study(deployment, story.SUBMODELS, story.GROUPS, verbose)
    answers = {answer.key: answer for answer in _answers(study, story, data, verbose)}
    numbers = {key: answer.numbers for key, answer in answers.items()}
    found = Story(study, answers, decide(study, numbers), time.perf_counter() - started)
    if out is not None:
        found.write(Path(out))
    return found


def _check_out(out: str | os.PathLike[str] | None) -> None:
    """Refuse, before any work is done, a folder that cannot be written to."""
    if out is None:
        return
    place = Path(out).absolute()
    above = next(path for path in (place, *place.parents) if path.exists())
    if not above.is_dir():
        raise InputError(f"out {str(out)!r} is not a folder: name one, which is made if need be")


def _answers(study: Study, story: Any, data: Any, verbose: int) -> Iterator[Answer]:
    """The five answers that every story has, and its own ones."""
    kind, groups = story.groups(study.deployment)
    outages = story.outages(study.deployment) if hasattr(story, "outages") else None
    yield accuracy(study, groups, kind)
    yield certified_answer(study)
    _say(verbose, f"{study.deployment.name}: attacking it")
    yield audited(study, verbose=verbose)
    yield cost(study)
    _say(verbose, f"{study.deployment.name}: silencing sources")
    yield silence(study, outages)
    yield from story.special(study, data, verbose)


def _say(verbose: int, message: str) -> None:
    if verbose:
        log(message)
