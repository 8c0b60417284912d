"""A stored model with what it remembers of its training table; its manifest is opened once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .._support import Array
from ..errors import InputError
from ..rules import TopK
from ..store import digest, load_with_manifest
from ..tables import CsvOptions, Split, footers_of, sha256_of
from ._schema import Schema
from ._tasks import TASKS
from ._wording import CHOSEN


@dataclass(frozen=True, eq=False)
class StoredModel:
    """A model that was loaded, and its manifest.

    Attributes
    ----------
    model : FeaturePartitionClassifier or FeaturePartitionRegressor
        Fitted.
    manifest : dict
        What ``manifest.json`` holds.
    path : str or path
        The folder or zip it came from.
    """

    model: Any
    manifest: dict[str, Any]
    path: Any

    @property
    def about(self) -> dict[str, Any]:
        """What ``partita fit`` wrote about the training table; empty for a model from Python."""
        return self.manifest.get("about") or {}

    @property
    def chosen(self) -> str | None:
        """How the settings came about, a key of CHOSEN; None if that was not said."""
        found = self.about.get("chosen")
        return found if isinstance(found, str) and found in CHOSEN else None

    @property
    def digest(self) -> str:
        """One hash for all files of the model."""
        return digest(self.manifest)

    @cached_property
    def schema(self) -> Schema:
        """What a table must look like to be certified."""
        about = self.about
        return Schema(
            known_kinds(self.model),
            about.get("ignore", []),
            about.get("target"),
            about.get("target_kind"),
            TASKS[self.model.task],
            CsvOptions().with_fallback(about.get("csv")),
        )

    def check_rule(self) -> None:
        """Refuse a rule whose radius is not about the prediction."""
        if isinstance(self.model.rule_, TopK):
            raise InputError(
                "the model's rule is TopK, whose radius is about staying among the top k: certify "
                "it in Python, with labels="
            )

    def is_training_table(self, path: Any) -> bool:
        """Whether a table is the one that the model was fitted on."""
        return is_same_table(self.about.get("data") or {}, path)

    def holds_training_rows(self, path: Any, split: Split | None) -> bool:
        """Whether rows to certify are training rows: the same table, and not another part of it."""
        learnt = self.about.get("split")
        other_part = (
            learnt is not None
            and split is not None
            and learnt[0] == split[0]
            and learnt[1] != split[1]
        )
        return not other_part and self.is_training_table(path)

    def training_rows(self, path: Any) -> tuple[Any, Array]:
        """The features and the target of the training table, as fit read them."""
        if self.schema.target is None:
            raise InputError(
                "the model does not say which column it predicts: audit it in Python, with "
                "partita.attacks.audit"
            )
        split = self.about.get("split")
        file = self.schema.open(
            path,
            "training",
            split=None if split is None else (split[0], split[1]),
            needs_target=True,
        )
        table = file.table(self.schema.kinds)
        return table.take_all(), self.schema.read_target(file, "training")


def open_model(
    path: Any, trusted: Sequence[str] = (), jobs: int | None = None, verbose: int = 0
) -> StoredModel:
    """Load a stored model for use from outside Python.

    Parameters
    ----------
    path : str or path
        The folder or zip that ``partita fit`` wrote.
    trusted : sequence of str, default=()
        Further types that may be loaded (:func:`partita.store.load`).
    jobs : int, optional
        Threads; by default as the model was fitted.
    verbose : int, default=0
        How much the model says on standard error.
    """
    model, manifest = load_with_manifest(path, trusted)
    model.verbose = verbose
    model.n_jobs = model.n_jobs if jobs is None else jobs
    return StoredModel(model, manifest, path)


def known_kinds(model: Any) -> dict[str, str]:
    """The kinds of a model's columns; an error where rows from outside cannot be read for it."""
    if model.kinds_ is None:
        raise InputError(
            "the model was fitted on an array without column names: fit it on a frame, or with "
            "partita fit"
        )
    for name, kind in model.kinds_.items():
        if kind is None:
            raise InputError(
                f"the model's column {name!r} held something that no file gives back (a category "
                "or a date): certify it in Python, or fit it with partita fit"
            )
    return dict(model.kinds_)


def is_same_table(known: Mapping[str, Any], path: Any) -> bool:
    """Whether a table is the one that these hashes describe.

    A table that was fitted piece by piece is known by its Parquet footers, any other by its
    content.
    """
    if "footers" in known:
        is_parquet = Path(path).is_dir() or Path(path).suffix.lower() in (".parquet", ".pq")
        return is_parquet and footers_of(path) == known["footers"]
    return "sha256" in known and known["sha256"] == sha256_of(path)
