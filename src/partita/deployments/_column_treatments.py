"""Cleaning columns before one model sees them: outliers, and robust statistics.

Both look at one column at a time and at numbers only. What they learn, they learn from the training
table, which an attacker may have written.
"""

from typing import Any

from ._wrapped import Wrapped


class MedianForOutliers(Wrapped):
    """One model on columns whose outliers are replaced by the training median.

    Parameters
    ----------
    estimator : estimator
        The model.
    share : float, default=0.01
        Values beyond this quantile of the training column, on either side, are outliers.
    """

    def __init__(self, estimator: Any, share: float = 0.01) -> None:
        super().__init__(estimator)
        self.share = share

    def _learn(self, X: Any, y: Any) -> tuple[Any, Any]:
        numbers = X.select_dtypes("number")
        self.low_, self.high_ = numbers.quantile(self.share), numbers.quantile(1 - self.share)
        self.median_ = numbers.median()
        return self._treat(X), y

    def _treat(self, X: Any) -> Any:
        numbers = X[self.median_.index].astype(float)
        usual = numbers.ge(self.low_) & numbers.le(self.high_) | numbers.isna()
        return X.assign(**numbers.where(usual, self.median_, axis=1))


class RobustColumns(Wrapped):
    """One model on columns shifted by their median, scaled by their quartiles, and clipped.

    Parameters
    ----------
    estimator : estimator
        The model.
    limit : float, default=3.0
        Values are clipped to this many interquartile ranges from the median.
    """

    def __init__(self, estimator: Any, limit: float = 3.0) -> None:
        super().__init__(estimator)
        self.limit = limit

    def _learn(self, X: Any, y: Any) -> tuple[Any, Any]:
        numbers = X.select_dtypes("number")
        self.median_ = numbers.median()
        width = numbers.quantile(0.75) - numbers.quantile(0.25)
        self.width_ = width.where(width > 0, 1.0)
        return self._treat(X), y

    def _treat(self, X: Any) -> Any:
        numbers = X[self.median_.index].astype(float)
        scaled = (numbers - self.median_) / self.width_
        return X.assign(**scaled.clip(-self.limit, self.limit))
