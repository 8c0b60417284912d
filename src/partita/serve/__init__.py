"""The HTTP service: rows as JSON in, predictions with their proofs out."""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._app import make_app, run

__all__ = ["make_app", "run"]

__getattr__, __dir__ = lazy_names(__name__, {"make_app": "_app", "run": "_app"})
