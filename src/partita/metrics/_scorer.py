"""A certified score for scikit-learn's searches, and how to certify what a search gives.

The estimator may be a pipeline or a search; all that is known of it is that something inside has
``certify``.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from numpy.typing import ArrayLike

from .._support import Estimator, TableLike, check_whole
from ..certificates import Certificates
from ..errors import InputError
from ._scores import certified_accuracy, certified_balanced_accuracy, certified_recall

CertifiedScore: TypeAlias = str | tuple[str, object]  # or ("recall", label)


def certified_scorer(
    radius: int = 0,
    *,
    score: CertifiedScore = "accuracy",
    tolerance: float | None = None,
    relative: float | None = None,
) -> Callable[[Estimator, TableLike, ArrayLike], float]:
    """Make a scorer for ``GridSearchCV`` and ``cross_val_score``: a certified score at a radius.

    Parameters
    ----------
    radius : int, default=0
        How many units the attacker owns.
    score : {"accuracy", "balanced"} or ("recall", label), default="accuracy"
        Certified accuracy, the mean certified recall of all labels, or the certified recall of one.
    tolerance, relative : float, optional
        For a regressor, which needs one of them: how far from the truth a prediction counts as
        right, absolutely or as a share of the truth.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``. The estimator may be a Pipeline whose last step can certify, or
        a fitted search (``best_estimator_``) over either.

    See Also
    --------
    certified_accuracy : The score itself.
    partita.attacks.check_pipeline : Tests whether a Pipeline's steps mix columns, which voids the
        certificates.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.metrics import certified_scorer
    >>> X, y = load_wine(return_X_y=True)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5)
    >>> model = make_pipeline(StandardScaler(), clf).fit(X[::2], y[::2])
    >>> certified_scorer(radius=1, score="balanced")(model, X[1::2], y[1::2]) > 0.5
    True
    """
    check_whole("radius", radius, 0)
    check_score(score)

    def scorer(estimator: Estimator, X: TableLike, y: ArrayLike) -> float:
        found = find_certifier(estimator, X)
        if found is None:
            raise InputError(
                f"estimator is a {type(estimator).__name__}, which has no certify: give a "
                "FeaturePartitionClassifier, a "
                "FeaturePartitionRegressor, or a Pipeline or a fitted search with one at its end"
            )
        proof = certify_against(*found, y, tolerance, relative)
        return certified_score(y, proof, radius, score)

    return scorer


def certify_against(
    model: Estimator,
    X: TableLike,
    y: ArrayLike,
    tolerance: ArrayLike | None = None,
    relative: ArrayLike | None = None,
    **options: Any,
) -> Certificates:
    """Certify the rows of X so that metrics can compare them with the truth y.

    Values stay within the tolerance of the truth; with a rule for given labels (``TopK``), the true
    ones are given. Further options go to ``certify``.
    """
    if tolerance is not None or relative is not None:
        options |= {"around": y, "tolerance": tolerance, "relative": relative}
    elif getattr(getattr(model, "rule_", None), "needs_labels", False):
        options |= {"labels": y}
    proof: Certificates = model.certify(X, **options)
    return proof


def certified_score(y: Any, proof: Certificates, radius: int, score: CertifiedScore) -> float:
    """Return the score that ``certified_scorer`` gives to a proof."""
    if score == "accuracy":
        return certified_accuracy(y, proof, radius)
    if score == "balanced":
        return certified_balanced_accuracy(y, proof, radius)
    recalls, label = certified_recall(y, proof, radius), score[1]
    if label not in recalls:
        raise InputError(
            f"score asks for the recall of {label!r}, which does not occur in y: give one of "
            f"{', '.join(map(repr, recalls))}"
        )
    return recalls[label]


def find_certifier(estimator: Estimator, X: TableLike) -> tuple[Estimator, TableLike] | None:
    """Look for ``certify`` at the end of pipelines and searches; None where nothing certifies."""
    model = estimator
    while not hasattr(model, "certify"):
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "steps"):
            if len(model.steps) > 1:
                X = model[:-1].transform(X)
            model = model.steps[-1][1]
        else:
            return None
    return model, X


def check_score(score: object) -> None:
    """Raise if this does not name a certified score."""
    if score not in ("accuracy", "balanced") and not (
        isinstance(score, tuple) and len(score) == 2 and score[0] == "recall"
    ):
        raise InputError(f'score is {score!r}: give "accuracy", "balanced" or ("recall", label)')
