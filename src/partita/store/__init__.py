"""A fitted model on disk, without pickle; resumable while it grows."""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._load import load, manifest
    from ._save import save

__all__ = ["load", "manifest", "save"]

__getattr__, __dir__ = lazy_names(__name__, {"load": "_load", "manifest": "_load", "save": "_save"})
