"""A fitted model on disk, without pickle; resumable while it grows."""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._files import ESTIMATOR, submodel_name
    from ._manifest import digest, load, load_with_manifest, manifest, to_manifest
    from ._reference_rates import read_rates, write_rates
    from ._save import StoredSubmodel, UnfinishedModel, check_free, save, stored_estimator

__all__ = ["load", "manifest", "save"]

__getattr__, __dir__ = lazy_names(__name__)
