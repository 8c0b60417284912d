"""The one search: every ensemble is fitted once on each split, and judged under all its variants.

The doors to it say what is tried and on which rows (``choose`` on arrays, ``choose_table`` on a
table in a file). Results of finished candidates may be kept in a folder, so that a search that was
interrupted resumes.
"""

import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .._support import Array, Estimator, TableLike, json_value, log, write_atomic
from ..ensemble import failure_banner, fit_full_model
from ..errors import EmptyProofWarning, InputError, SoundnessWarning, SubmodelWarning
from ..partition import SHARED_ROWS
from ..rules import Gated
from ..workflow import ON_TRAINING, TASKS, CertifiedTable, Task, ordinary_estimators
from ._choice import Choice
from ._evaluation import (
    ONE_MODEL,
    Evaluation,
    Objective,
    evaluate,
    mean,
    mean_evaluation,
    size_text,
)
from ._grid import Candidate, Grid, Options, candidates, rule_of, with_rule


class Split(NamedTuple):
    """Rows to learn from and rows to judge by, with the ensembles to fit on the former.

    These are a partition and a leave-out ensemble with everything set but their sizes and rules.
    """

    partition: Estimator
    leave_out: Estimator
    train: tuple[TableLike, Array]
    valid: tuple[TableLike, Array]


@dataclass(frozen=True)
class ResultCache:
    """Where results of candidates are stored until a search is finished.

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
        """Return a candidate's results without estimators; None where they are not known."""
        try:
            stored = json.loads(self._place(number).read_bytes())
        except (OSError, ValueError):  # there is none, or it was damaged
            return None
        if [stored["options"], stored["variants"]] != [candidate.options, candidate.variants]:
            return None
        return [Evaluation(**one, estimator=None) for one in stored["found"]]

    @cached_property
    def finished(self) -> dict[str, Evaluation]:
        """The results of a finished search of the same key, by their options."""
        try:
            stored = json.loads((self.folder / "choice.json").read_bytes())
            kinds = [stored, *stored["splits"].values()]
            same = next(kind for kind in kinds if kind["key"] == self.key)
            names = Evaluation.__dataclass_fields__.keys() - {"estimator"}
            return {
                json.dumps(one["options"]): Evaluation(**{k: one[k] for k in names}, estimator=None)
                for one in [*same["settings"], *same["ordinary"]]
            }
        except (
            OSError,
            ValueError,
            KeyError,
            TypeError,
            StopIteration,
        ):  # there is none, or of something else
            return {}

    def write(self, number: int, candidate: Candidate, found: list[Evaluation]) -> None:
        """Store a candidate's results."""
        self.check()
        content = {"options": candidate.options, "variants": candidate.variants}
        content["found"] = [one.measured for one in found]
        write_atomic(self._place(number), json.dumps(json_value(content)).encode())

    def clear(self) -> None:
        """Remove what searches of any key have stored."""
        for file in self.folder.glob(f"candidate-[0-9][0-9][0-9]-{'[0-9a-f]' * 16}.json"):
            file.unlink()

    def _place(self, number: int) -> Path:
        return self.folder / f"candidate-{number:03d}-{self.key}.json"


def search(
    splits: Sequence[Split],
    grid: Grid,
    want: str | None,
    radius: int | None,
    tolerances: tuple[float | None, float | None] = (None, None),
    estimator: str = "auto",
    chosen: str = ON_TRAINING,
    cache: ResultCache | None = None,
    verbose: int = 0,
) -> Choice:
    """Fit every candidate of a grid on every split and judge it; shares are means over splits.

    Parameters
    ----------
    splits : sequence of Split
        At least one.
    grid : Grid
        The settings to try.
    want : str, optional
        What settings are compared by; None: what suits the labels.
    radius : int, optional
        Compare both methods for a proof at this radius; None: partitions at all radii.
    tolerances : (tolerance, relative)
        For numbers: what counts as right.
    estimator : str, default="auto"
        The submodels' name, for messages and for a full model behind the vote.
    chosen : {"on-training", "on-reference"}
        Whether the rows to learn from are of the training table or of a trusted sample.
    cache : ResultCache, optional
        Where results are kept until the search is finished.
    verbose : int, default=0
        0: no progress on standard error.
    """
    first = splits[0]
    task = TASKS[first.partition.task]
    task.check_tolerance(*tolerances, needed=True)
    objective = Objective.parse(want, task.name, task.label_counts(first.train[1]))
    held = task.label_counts(first.valid[1])
    if len(held) == 1:
        raise InputError(
            f"the rows to judge by hold no label but {next(iter(held))!r}, which a constant gets "
            "right: give rows of several labels, or hold out others"
        )
    objective.check_labels(held)
    units = clone(first.partition).units_of(first.train[0])
    n_units = len(units)
    if radius is not None and n_units < 2 * radius + 1:
        raise InputError(
            f"radius is {radius}, which needs at least {2 * radius + 1} units, but there are "
            f"{n_units}: lower radius, or use finer units"
        )
    variants = grid.variants(task, first.partition.estimator, estimator, radius, verbose)
    labels = np.asarray(list(task.label_counts(first.train[1])))
    for rule in [rule_of(variant, task) for variant in variants]:  # before anything is fitted
        if rule is not None:
            rule.check()
            rule.resolve(first.train[1], labels)
    splits = [one._replace(partition=with_rule(one.partition, variants[0], task)) for one in splits]
    judges = [_Judge(split, radius, tolerances, estimator) for split in splits]
    every = [
        [
            *candidates(
                grid, variants, one.partition, one.leave_out, n_units, radius, task, one.train[0]
            ),
            *_ordinary(one.partition, task, one.train[1]),
        ]
        for one in splits
    ]
    settings: list[Evaluation] = []
    for number, same in enumerate(zip(*every, strict=True), start=1):
        known = None if cache is None else cache.read(number, same[0])
        if known is None and cache is not None:
            keys = [json.dumps(same[0].under(one, estimator)) for one in same[0].variants]
            known = [cache.finished[key] for key in keys if key in cache.finished]
            known = known if len(known) == len(keys) else None
        if verbose:
            before = "" if known is None else ", finished by an earlier run"
            learner = same[0].options.get("estimator", "")
            what = size_text(same[0].options) + f", {learner}" * bool(learner)
            log(f"{what} ({number} of {len(every[0])}{before})")
        if known is None:
            found = [judge.evaluations(one) for judge, one in zip(judges, same, strict=True)]
            known = _means(found, number, same[0], cache)
        settings += [
            replace(one, estimator=same[0].estimator(variant, task), radius=judges[0].radius)
            for one, variant in zip(known, same[0].variants, strict=True)
        ]
    constants = [task.best_constant(one.train[1], one.valid[1], *tolerances) for one in splits]
    return Choice(
        objective,
        radius,
        [one for one in settings if one.method != ONE_MODEL],
        [one for one in settings if one.method == ONE_MODEL],
        constants[0]
        | {name: mean([one[name] for one in constants]) for name in ("accuracy", "balanced")},
        f"{n_units} {units.kind}",
        {str(label): n for label, n in task.label_counts(first.valid[1]).items()},
        len(first.valid[1]),
        chosen,
    )


def _ordinary(partition: Estimator, task: Task, y: Array) -> Iterator[Candidate]:
    """Yield ordinary models of the whole table, and the user's own, as partitions of one part.

    Labels are also decided with their shares divided out, as suits their mean recall.
    """
    plain: list[Options] = [{}] if task.name == "regression" else [{"rule": "plurality"}]
    even: list[Options] = [] if task.name == "regression" else [{"margin": 0.0, "prior": 1.0}]
    settings = {"n_submodels": 1, "partition": "random", "on_failure": "vote"}
    settings |= {"strict": False, "verbose": 0}
    named = {name: (one, plain + even) for name, one in ordinary_estimators(task, y).items()}
    if (own := partition.estimator) is not None:
        last = own.steps[-1][1] if hasattr(own, "steps") else own
        named.setdefault(type(last).__name__, (own, plain))
    for name, (estimator, variants) in named.items():
        ensemble = clone(partition).set_params(estimator=estimator, **settings)
        options = {"submodels": 1, "estimator": name}
        yield Candidate(ONE_MODEL, options, with_rule(ensemble, variants[0], task), variants)


def _means(
    found: Sequence[list[Evaluation]], number: int, candidate: Candidate, cache: ResultCache | None
) -> list[Evaluation]:
    """Average a candidate's results over the splits, and store them."""
    means = [mean_evaluation(same) for same in zip(*found, strict=True)]
    if cache is not None:
        cache.write(number, candidate, means)
    return means


@contextmanager
def _without_warnings_of_trials() -> Iterator[None]:
    """Leave out what a fit warns of that is no news of one trial among many.

    Proofs that are empty are judged elsewhere; and where the rows that are learnt from are trusted,
    a partition may be informed by the same rows.
    """
    with warnings.catch_warnings():
        for category in (EmptyProofWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", category)
        warnings.filterwarnings("ignore", SHARED_ROWS, SoundnessWarning)
        yield


class _Judge:
    """Fits candidates on one split and judges them on its validation rows."""

    def __init__(
        self,
        split: Split,
        radius: int | None,
        tolerances: tuple[float | None, float | None],
        name: str,
    ) -> None:
        self.split, self.tolerances, self.name = split, tolerances, name
        self.radius = 1 if radius is None else radius
        self.task = TASKS[split.partition.task]
        self._full_models: dict[str, Estimator] = {}

    def evaluations(self, candidate: Candidate) -> list[Evaluation]:
        """Fit a candidate once, and judge every variant of it."""
        started = time.perf_counter()
        with _without_warnings_of_trials():
            if candidate.method == ONE_MODEL:  # it is left out
                warnings.simplefilter("ignore", SubmodelWarning)
            model = clone(candidate.ensemble).fit(*self.split.train)
        seconds = time.perf_counter() - started
        table, truth = self.split.valid
        certified = CertifiedTable.of(model, table, *self.tolerances, truth)
        failed = failure_banner(len(model.failures_), len(model.estimators_))
        found = []
        for number, variant in enumerate(candidate.variants):
            options = candidate.under(variant, self.name)
            judged = self._under(certified, variant, number > 0)
            proof = judged.against_truth.proof
            assert proof is not None
            one = Evaluation(candidate.method, options, self.radius, [], seconds, None)
            one = replace(one, warnings=failed)
            found.append(evaluate(one, self.task, proof, truth))
        return found

    def _under(self, certified: CertifiedTable, variant: Options, other: bool) -> CertifiedTable:
        """The same ballots under a variant: another rule, or with the full model behind them."""
        model: Estimator = certified.model
        rule = rule_of(variant, self.task) if other else None
        if rule is not None:
            y, submodel = self.split.train[1], model.unfitted_submodel()
            certified = certified.under(model.resolve_rule(copy(rule), submodel, y))
        gate = variant.get("gate")
        if gate is None or (full_model := self._full_model(model)) is None:
            return certified
        gated: Estimator = copy(certified.model)
        gated.fallback, gated.gate = model.unfitted_submodel(), gate
        gated.fallback_model_ = full_model
        scores = gated.fallback_scores(certified.table)
        decides = Gated(certified.rule, gate)
        ballots = replace(certified.ballots, rule=decides, fallback=scores)
        return replace(certified, ballots=ballots)

    def _full_model(self, model: Estimator) -> Estimator:
        """One model on all columns, fitted once for each estimator; None where it fails."""
        name = repr(model.estimator)
        if name not in self._full_models:
            with _without_warnings_of_trials():
                self._full_models[name] = fit_full_model(clone(model), *self.split.train)
        return self._full_models[name]
