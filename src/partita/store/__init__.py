"""A fitted model on disk, without pickle."""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._store import load, manifest, save

__all__ = ["load", "manifest", "save"]

__getattr__, __dir__ = lazy_names(
    __name__, {"load": "_store", "manifest": "_store", "save": "_store"}
)
