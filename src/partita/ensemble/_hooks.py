"""What differs between labels and values, as hooks of the shared base class.

Code outside of this package (command line, report, service, audit) calls these and need not know
which kind of model it has.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from .._support.types import Array
from ..ballots import Ballots
from ..certificates import Certificates
from ..rules import Rule
from ..rules._statements import Statement
from ..tables._table import Table
from ._empty_proofs import CURE
from ._plan import Plan


class TaskHooks:
    """The hooks that FeaturePartitionClassifier and FeaturePartitionRegressor implement."""

    _task: ClassVar[str]  # "classification" or "regression"
    rule_: Any
    _default_estimator: ClassVar[Any]
    _constant_cure: ClassVar[str] = CURE  # what may help a model that is nearly a constant

    @property
    def _trusts_training(self) -> bool:
        """Whether certificates are about attacks on rows to predict alone."""
        return False

    def _read_target(self, y: Any) -> Array:
        """Return the target, checked, as submodels learn it; remember the classes."""
        raise NotImplementedError

    @property
    def _usual_value(self) -> float | None:
        """The median training target, if it was learnt: the best constant. None for labels."""
        centre = getattr(self.rule_, "centre", None)
        return None if centre is None else float(centre)

    def _fixed_ballot(self, y: Array) -> Array:
        """Return the ballot of a submodel that fails: from labels alone, or a constant."""
        raise NotImplementedError

    def _check_rule(self, rule: Rule, estimator: Any) -> None:
        """Refuse a rule or an estimator that is made for the other task."""
        raise NotImplementedError

    def _score(self) -> Callable[..., Array]:
        """Return the function that makes a submodel's ballot from its columns."""
        raise NotImplementedError

    def _tree_score(self) -> Callable[..., Array]:
        """Return the function that makes ballots from the sums of a submodel's flat trees."""
        raise NotImplementedError

    def _constant_warnings(self, ballots: Ballots, y: Array) -> list[str]:
        """Return warnings for a model that predicts one label for nearly all training rows.

        ``ballots`` are of some of them, ``y`` is the target of all.
        """
        return []

    def _gate(self) -> int:
        """Return the least radius at which the vote decides; 0: it always does."""
        return 0

    def _fit_fallback(self, table: Table, y: Array, plan: Plan, sample_weight: Any) -> None:
        """Fit the model that answers below the gate, if there is one."""

    def _fallback_scores(self, table: Table, rows: Array | None = None) -> Array | None:
        """Return the fallback's scores; None without a gate. No certificate may depend on them."""
        return None

    def _decide(self, ballots: Ballots) -> Array:
        """Return predictions as labels or values."""
        raise NotImplementedError

    def _votes(self, ballots: Ballots) -> Array:
        """Return every submodel's own prediction, as labels or values: (rows, submodels)."""
        raise NotImplementedError

    def _statement(
        self, prediction: Array, tolerance: Any = None, relative: Any = None, around: Any = None
    ) -> Statement | None:
        """Return what can be certified of each row; None for values without a tolerance.

        ``around``: the truth, for values that must stay near it. A label's statement is about the
        prediction in any case.
        """
        raise NotImplementedError

    def _certificates(
        self,
        ballots: Ballots,
        statement: Statement,
        table: Table | None = None,
        cover: str = "bound",
        time_limit: float = 10.0,
    ) -> Certificates:
        """Certify the statement about each row; the radius counts units."""
        raise NotImplementedError

    def _correct(
        self, prediction: Array, truth: Array, tolerance: Any = None, relative: Any = None
    ) -> Array:
        """Return which predictions are right: equal to the truth, or within the tolerance."""
        raise NotImplementedError

    def _intervals(self, ballots: Ballots) -> dict[int, tuple[Array, Array]]:
        """Return the values an attack can bring about, by radius; empty for labels."""
        return {}
