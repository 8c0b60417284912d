"""A fitted model on disk, without pickle; resumable while it grows."""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._layout import ESTIMATOR, submodel_name
    from ._load import digest, load, load_with_manifest, manifest
    from ._manifest import to_manifest
    from ._save import check_free, save, stored_estimator
    from ._unfinished import StoredSubmodel, UnfinishedModel
    from ._usual import read_usual, write_usual

__all__ = ["load", "manifest", "save"]

__getattr__, __dir__ = lazy_names(__name__)
