"""Figures, in scikit-learn's display style."""

import io
from collections.abc import Mapping
from typing import Any, Self

from .certificates import Certificates
from .errors import MissingExtraError
from .metrics import certified_accuracy_curve


class CertifiedAccuracyDisplay:
    """The share of rows that are certified correct at every radius.

    Make one with ``from_estimator`` or ``from_certificates``. After ``plot``: ``line_``, ``ax_``,
    ``figure_``.

    Parameters
    ----------
    radius, accuracy : arrays
        As from ``certified_accuracy_curve``.
    counts : str
        What the radius counts, for the axis.
    name : str, default=None
        For the legend.
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
        """Plot certificates against the truth."""
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
        """Certify X and plot it; a regressor needs ``tolerance`` or ``relative``."""
        bounds = (
            {}
            if tolerance is None and relative is None
            else {"around": y, "tolerance": tolerance, "relative": relative}
        )
        name = type(estimator).__name__ if name is None else name
        return cls.from_certificates(y, estimator.certify(X, **bounds), name=name, ax=ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curve; further arguments go to matplotlib's ``step``."""
        try:
            from matplotlib.ticker import MaxNLocator, PercentFormatter
        except ImportError as exc:
            raise MissingExtraError("matplotlib", "a plot", "partita[plot]") from exc
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots()
        label = self.name if name is None else name
        (self.line_,) = ax.step(
            self.radius, self.accuracy, where="post", **({"label": label} | kwargs)
        )
        ax.set(
            xlabel=f"radius: {self.counts} an attacker may own",
            ylabel="certified accuracy",
            ylim=(0, 1.02),
        )
        ax.set_xlim(left=0)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        ax.grid(alpha=0.3)
        if label is not None:
            ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self


def figure_png(title: str, curves: Mapping[str, Any], counts: str) -> bytes:
    """A picture of several curves of certified accuracy, without a window or a global setting."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as exc:
        raise MissingExtraError("matplotlib", "a plot", "partita[plot]") from exc
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    ax = figure.add_subplot()
    for name, share in curves.items():
        CertifiedAccuracyDisplay(range(len(share)), share, counts=counts, name=name).plot(ax=ax)
    ax.set_title(title)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=120, metadata={"Software": None})
    return picture.getvalue()
