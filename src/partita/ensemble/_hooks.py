"""What differs between labels and values, as hooks of the shared base class.

Other packages need not know which kind of model they have: they use :class:`FittedEnsemble`.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from .._support import Array
from ..ballots import Ballots
from ..rules import Rule
from ..tables import Table
from ._empty_proofs import CURE
from ._plan import Plan
from ._protocol import FittedEnsemble


class TaskHooks(FittedEnsemble):
    """The hooks that FeaturePartitionClassifier and FeaturePartitionRegressor implement."""

    _default_estimator: ClassVar[Any]
    constant_cure: ClassVar[str] = CURE  # what may help a model that is nearly a constant

    @property
    def trusts_training(self) -> bool:
        return False

    def _read_target(self, y: Any) -> Array:
        """Return the target, checked, as submodels learn it; remember the classes."""
        raise NotImplementedError

    @property
    def usual_value(self) -> float | None:
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

    @property
    def gate_(self) -> int:
        return 0

    def _fit_fallback(self, table: Table, y: Array, plan: Plan, sample_weight: Any) -> None:
        """Fit the model that answers below the gate, if there is one."""

    def _fallback_scores(self, table: Table, rows: Array | None = None) -> Array | None:
        """Return the fallback's scores; None without a gate. No certificate may depend on them."""
        return None

    def intervals(self, ballots: Ballots) -> dict[int, tuple[Array, Array]]:
        return {}
