"""Figures, in scikit-learn's display style. matplotlib is an extra, imported when first needed."""

import io
from collections.abc import Callable, Mapping
from typing import Any, Self

from ._support import require
from .certificates import Certificates
from .metrics import certified_accuracy_curve, certify_against

__all__ = ["CertifiedAccuracyDisplay"]

EXTRA = ("a plot", "partita[plot]")


class CertifiedAccuracyDisplay:
    """The share of rows that are certified correct at every radius, as a figure.

    Make one with :meth:`from_estimator` or :meth:`from_certificates`.

    Parameters
    ----------
    radius : array-like of int
        0, 1, 2, ...
    accuracy : array-like of float
        Certified accuracy at each radius.
    counts : str, default="units"
        What the radius counts, for the axis.
    name : str, optional
        For the legend.

    Attributes
    ----------
    line_ : matplotlib Artist
        The curve, after :meth:`plot`.
    ax_ : matplotlib Axes
        Its axes.
    figure_ : matplotlib Figure
        Its figure.

    See Also
    --------
    partita.metrics.certified_accuracy_curve : The numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import CertifiedAccuracyDisplay, certify
    >>> proof = certify(np.eye(2)[[[0, 0, 0], [0, 1, 1]]], rule="plurality")
    >>> display = CertifiedAccuracyDisplay.from_certificates([0, 1], proof, name="plurality")
    >>> display.ax_.get_xlabel()
    'radius: submodels an attacker may own'
    """

    def __init__(
        self, radius: Any, accuracy: Any, *, counts: str = "units", name: str | None = None
    ) -> None:
        self.radius = radius
        self.accuracy = accuracy
        self.counts = counts
        self.name = name

    @classmethod
    def from_certificates(
        cls, y: Any, proof: Certificates, *, name: str | None = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Plot certificates against the truth.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            True labels or values.
        proof : Certificates
            What ``certify`` returned for these rows; for a regressor with ``around=y``.
        name : str, optional
            For the legend.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        **kwargs : Any
            Passed to matplotlib's ``step``.

        Returns
        -------
        CertifiedAccuracyDisplay
            The display, drawn.
        """
        curve = certified_accuracy_curve(y, proof)
        return cls(curve.radius, curve.accuracy, counts=proof.counts.what, name=name).plot(
            ax=ax, **kwargs
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        tolerance: Any = None,
        relative: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Certify a table and plot it against the truth.

        Parameters
        ----------
        estimator : FeaturePartitionClassifier or FeaturePartitionRegressor
            Or anything else that is fitted and has ``certify``.
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to certify.
        y : array-like of shape (n_samples,)
            True labels or values.
        tolerance, relative : float, optional
            For a regressor, which needs one of them: how far from the truth a prediction counts as
            right, absolutely or as a share of the truth.
        name : str, optional
            For the legend; by default the estimator's class.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        **kwargs : Any
            Passed to matplotlib's ``step``.

        Returns
        -------
        CertifiedAccuracyDisplay
            The display, drawn.
        """
        proof = certify_against(estimator, X, y, tolerance, relative)
        name = type(estimator).__name__ if name is None else name
        return cls.from_certificates(y, proof, name=name, ax=ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        name : str, optional
            For the legend; by default the display's own name.
        **kwargs : Any
            Passed to matplotlib's ``step``.

        Returns
        -------
        CertifiedAccuracyDisplay
            The display itself.
        """
        ticker = require("matplotlib.ticker", *EXTRA)
        if ax is None:
            _, ax = require("matplotlib.pyplot", *EXTRA).subplots()
        label = self.name if name is None else name
        (self.line_,) = ax.step(
            self.radius, self.accuracy, where="post", **({"label": label} | kwargs)
        )
        ax.set(
            xlabel=f"radius: {self.counts} an attacker may own",
            ylabel="certified accuracy",
            ylim=(0, 1.02),
        )
        ax.set_xlim(left=0, auto=None)  # a longer curve may follow on the same axes
        ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
        ax.yaxis.set_major_formatter(ticker.PercentFormatter(1.0))
        ax.grid(alpha=0.3)
        if label is not None:
            ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self


def curves_png(
    title: str, curves: Mapping[str, Any], counts: str, levels: Mapping[str, float]
) -> bytes:
    """Draw several curves of certified accuracy as a PNG, and dashed lines to compare them with."""

    def draw(ax: Any) -> None:
        for name, share in curves.items():
            CertifiedAccuracyDisplay(range(len(share)), share, counts=counts, name=name).plot(ax=ax)
        for grey, (name, level) in zip(("0.2", "0.6"), levels.items(), strict=False):
            ax.axhline(level, color=grey, linestyle="--", linewidth=1, label=name)
        ax.set_title(title)
        ax.legend(fontsize="small")

    return figure_png(draw, (6.4, 4.2))


def figure_png(draw: Callable[[Any], object], size: tuple[float, float]) -> bytes:
    """Return what a function draws on new axes as a PNG, without a window or global settings."""
    agg = require("matplotlib.backends.backend_agg", *EXTRA)
    figure = require("matplotlib.figure", *EXTRA).Figure(figsize=size, layout="constrained")
    agg.FigureCanvasAgg(figure)
    draw(figure.add_subplot())
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=120, metadata={"Software": None})
    return picture.getvalue()
