"""The protocol of fitted ensembles: what other packages may ask of a model.

Command line, report, service, audit, searches, stores and watchers use this and nothing else of an
ensemble, so that they need not know whether it predicts labels or values, and how it was trained.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol, TypeAlias

from numpy.typing import ArrayLike

from .._support import Array, Estimator, TableLike
from ..ballots import Abstentions, Ballots
from ..certificates import Certificates, Counts
from ..partition import LeaveOut, Overlap, Partition, Units
from ..rules import Rule, Statement
from ..tables import Table

Size: TypeAlias = ArrayLike | None  # a number, or one for each row


class FittedEnsemble(Protocol):
    """A fitted ensemble: reads tables, casts ballots, decides and certifies.

    The estimators of :mod:`partita` fulfil it.

    Attributes
    ----------
    task : str
        "classification" or "regression".
    estimators_ : list of estimators
        The fitted submodels.
    failures_ : list of str
        Why submodels failed, one text for each.
    partition_ : Partition, Overlap or LeaveOut
        Which submodel sees which units.
    units_ : Units
        What the radius counts.
    counts_ : Counts
        The same, for people.
    rule_ : Rule
        How the vote decides.
    gate_ : int
        The least radius at which the vote decides rather than the fallback; 0: it always does.
    fixed_ballot_ : array
        The ballot of a submodel that fails, and of a row in which all abstain.
    classes_ : array
        The labels, of a classifier.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array
        Names of the columns, if they had any.
    kinds_ : mapping of str to str, or None
        What each named column holds.
    numeric_ : sequence of bool
        Which columns hold numbers.
    warnings_ : list of str
        What a fit warned of, to be repeated with every result.
    label_attacks, image_shape, on_failure, verbose
        Settings of the fit.
    n_fitted : int
        How many submodels are fitted and stored: one where it takes the part of all.
    full_member : estimator or None
        A submodel that sees all columns.
    submodel_classes : array
        The labels as submodels learn them, of a classifier.
    trusts_training : bool
        Whether certificates are about attacks on rows to predict alone.
    usual_value : float or None
        The median training target, the best constant; None for labels.
    constant_cure : str
        What may help where the model is nearly a constant.

    See Also
    --------
    FeaturePartitionClassifier : Fulfils it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.ensemble import FittedEnsemble
    >>> def share_certified(model: FittedEnsemble, X, radius):
    ...     ballots = model.ballots(X)
    ...     proof = model.certificates(ballots, model.statement(model.decide(ballots)))
    ...     return float((proof.radius >= radius).mean())
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> share_certified(FeaturePartitionClassifier(n_submodels=5).fit(X, y), X, 1) > 0.5
    True
    """

    task: ClassVar[str]
    constant_cure: ClassVar[str]
    estimators_: Sequence[Estimator]
    partition_: Partition | Overlap | LeaveOut
    units_: Units
    counts_: Counts
    rule_: Rule
    fixed_ballot_: Array
    classes_: Array
    n_features_in_: int
    feature_names_in_: Array
    kinds_: Mapping[str, str | None] | None
    numeric_: Sequence[bool]
    warnings_: list[str]
    label_attacks: str | None
    image_shape: Sequence[int] | None
    on_failure: str
    verbose: int

    @property
    def failures_(self) -> list[str]:
        """Why submodels failed."""

    @property
    def gate_(self) -> int:
        """The least radius at which the vote decides."""

    @property
    def n_fitted(self) -> int:
        """How many submodels are fitted and stored."""

    @property
    def full_member(self) -> Estimator:
        """A submodel that sees all columns."""

    @property
    def submodel_classes(self) -> Array:
        """The labels as submodels learn them."""

    @property
    def trusts_training(self) -> bool:
        """Whether certificates are about attacks on rows to predict alone."""

    @property
    def usual_value(self) -> float | None:
        """The median training target."""

    def read(self, X: TableLike, silent: object = None) -> Table:
        """Open rows as a table with the columns of the fit.

        Parameters
        ----------
        X : array-like, DataFrame, sparse matrix or Table
            Rows with the columns seen in ``fit``.
        silent : "detect", list of units, or array of bool, optional
            Sources that are silent; a frame may lack their columns.

        Returns
        -------
        Table
            To be given to ``ballots`` and ``certificates``.
        """

    def ballots(self, X: TableLike, silent: object = None) -> Ballots:
        """Return every submodel's scores or values.

        Parameters
        ----------
        X : array-like, DataFrame, sparse matrix or Table
            Rows with the columns seen in ``fit``.
        silent : "detect", list of units, or array of bool, optional
            Sources that are silent, as ``certify`` takes them.

        Returns
        -------
        Ballots
            All that a rule ever sees: float32 of shape (n_samples, n_submodels, n_classes), which
            are log-probabilities where the submodels have them, else decision values, else votes;
            for a regressor float64 of shape (n_samples, n_submodels). They bring the model's rule
            for :func:`partita.certify`, who abstains, and the scores of the fallback if there is
            one.
        """

    def ballots_from(
        self, scores: Array, fallback: Array | None = None, abstentions: Abstentions | None = None
    ) -> Ballots:
        """Return scores as ballots that bring this model's rule, and its units where they overlap.

        Parameters
        ----------
        scores : array of shape (n_samples, n_submodels, n_classes) or (n_samples, n_submodels)
            Of the submodels.
        fallback : array of shape (n_samples, n_classes), optional
            Scores of the fallback, which a model with one needs.
        abstentions : Abstentions, optional
            Who abstains.

        Returns
        -------
        Ballots
            As :meth:`ballots` returns them.
        """

    def predict(self, X: TableLike, silent: object = None) -> Array:
        """Return predictions.

        Parameters
        ----------
        X : array-like, DataFrame, sparse matrix or Table
            Rows with the columns seen in ``fit``.
        silent : "detect", list of units, or array of bool, optional
            Sources that are silent, as ``certify`` takes them.

        Returns
        -------
        array of shape (n_samples,)
            Labels or values.
        """

    def decide(self, ballots: Ballots) -> Array:
        """Return the predictions that ballots decide.

        Parameters
        ----------
        ballots : Ballots
            Of this model.

        Returns
        -------
        array of shape (n_samples,)
            Labels or values.
        """

    def votes(self, ballots: Ballots) -> Array:
        """Return every submodel's own prediction.

        Parameters
        ----------
        ballots : Ballots
            Of this model.

        Returns
        -------
        array of shape (n_samples, n_submodels)
            Labels or values.
        """

    def statement(
        self, prediction: Array, tolerance: Size = None, relative: Size = None, around: Size = None
    ) -> Statement | None:
        """Return what can be certified of each row.

        Parameters
        ----------
        prediction : array of shape (n_samples,)
            What the model predicts; a label's statement is about it in any case.
        tolerance : float, optional
            How far a value may move.
        relative : float, optional
            The same, as a share.
        around : array of shape (n_samples,), optional
            The truth, for values that must stay near it.

        Returns
        -------
        Statement or None
            None for values without a tolerance.
        """

    def certificates(
        self,
        ballots: Ballots,
        statement: Statement | None,
        table: Table | None = None,
        cover: str = "bound",
        time_limit: float = 10.0,
    ) -> Certificates:
        """Certify the statement about each row.

        Parameters
        ----------
        ballots : Ballots
            Of this model.
        statement : Statement
            About the rows, from :meth:`statement`.
        table : Table, optional
            The rows; the result then has their index and makes frames of their library.
        cover : {"bound", "exact"}, default="bound"
            As ``certify`` has it.
        time_limit : float, default=10.0
            As ``certify`` has it.

        Returns
        -------
        Certificates
            The radius counts units.
        """

    def correct(
        self, prediction: Array, truth: Array, tolerance: Size = None, relative: Size = None
    ) -> Array:
        """Return which predictions are right.

        Parameters
        ----------
        prediction : array of shape (n_samples,)
            Labels or values.
        truth : array of shape (n_samples,)
            The true ones.
        tolerance : float, optional
            How far a value may be from the truth.
        relative : float, optional
            The same, as a share.

        Returns
        -------
        array of bool, shape (n_samples,)
            Equal to the truth, or within the tolerance.
        """

    def intervals(self, ballots: Ballots) -> dict[int, tuple[Array, Array]]:
        """Return the values that an attack can bring about.

        Parameters
        ----------
        ballots : Ballots
            Of this model.

        Returns
        -------
        dict of int to tuple of arrays
            The lowest and the highest value of each row, by radius; empty for labels.
        """

    def fallback_scores(
        self, table: Table, abstentions: Abstentions | None = None, rows: Array | None = None
    ) -> Array | None:
        """Return the scores of the fallback; no certificate may depend on them.

        Parameters
        ----------
        table : Table
            The rows, as ``read`` returns them.
        abstentions : Abstentions, optional
            Who abstains; cells of sources whose silence was declared are read as missing.
        rows : array of int, optional
            Score these rows alone.

        Returns
        -------
        array of float32, shape (n_samples, n_classes), or None
            None without a gate.
        """

    def score_submodel(self, t: int, X: TableLike) -> tuple[Array, str]:
        """Return one submodel's scores or values.

        Parameters
        ----------
        t : int
            The submodel's index.
        X : array or DataFrame of shape (n_samples, n_columns)
            Rows with the columns of this submodel alone.

        Returns
        -------
        array of shape (n_samples, n_classes) or (n_samples,)
            What :meth:`ballots` has of this submodel.
        str
            Why some rows got the fixed vote; "" where none did.
        """

    def refusing(self, table: Table) -> Array:
        """Return which submodels raise an error on these rows.

        Parameters
        ----------
        table : Table
            The rows, as ``read`` returns them.

        Returns
        -------
        array of bool, shape (n_submodels,)
            A fixed vote refuses nothing.
        """

    def row_owners(self, n_rows: int) -> Array:
        """Return the submodel that learns from each training row, under label attacks.

        Parameters
        ----------
        n_rows : int
            How many training rows there are.

        Returns
        -------
        array of int, shape (n_rows,)
            Follows from the rows' positions and the seed.
        """

    def columns_of(self, t: int) -> list[int]:
        """Return the columns that submodel t sees, the trusted ones among them.

        Parameters
        ----------
        t : int
            The submodel's index.

        Returns
        -------
        list of int
            Their positions.
        """

    def describe(self, t: int) -> str:
        """Describe submodel t by its units.

        Parameters
        ----------
        t : int
            The submodel's index.

        Returns
        -------
        str
            Such as ``"submodel 3 (of columns age, income)"``.
        """
