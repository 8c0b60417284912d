"""The files of a stored model: their names, and how a name carries its content's hash.

A stored model is a folder, or a zip, that holds ``manifest.json`` (everything but the submodels, in
plain JSON, with the sha256 of every other file) and one skops file per submodel. Networks that were
trained jointly are one safetensors file. Nothing here reads or writes files.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Any

MANIFEST = "manifest.json"
ESTIMATOR = "estimator"  # what the submodels are clones of, for fitting again
FULL_MODEL = "full-model"  # one model on all columns, for comparison
FALLBACK = "fallback-estimator"  # what answers where the vote proves little, for fitting again
FALLBACK_MODEL = "fallback-model"  # the same, fitted
NETWORKS = "networks"  # all submodels that were trained jointly
UNFINISHED = "unfinished"  # a folder of notes, while submodels are stored one by one
OTHER_ESTIMATORS = (ESTIMATOR, FULL_MODEL, FALLBACK, FALLBACK_MODEL)  # beside the submodels
SUBMODEL_FILE = re.compile(r"submodel-(\d{4,9})-[0-9a-f]{16}\.skops")


@dataclass(frozen=True)
class StoredFile:
    """A file of a stored model, in memory: its name holds the beginning of its sha256."""

    name: str
    sha256: str
    content: bytes

    @classmethod
    def of(cls, part: str, suffix: str, content: bytes) -> "StoredFile":
        """The file for a part of a model, such as ``submodel-0003``."""
        digest = hashlib.sha256(content).hexdigest()
        return cls(f"{part}-{digest[:16]}{suffix}", digest, content)

    @property
    def facts(self) -> dict[str, Any]:
        """What the manifest says about the file."""
        return {"sha256": self.sha256, "bytes": len(self.content)}


def submodel_name(t: int) -> str:
    """The part of a stored model that is submodel t."""
    return f"submodel-{t:04d}"


def is_part(file_name: str) -> bool:
    """Whether a file in a model's folder belongs to a model, this one or an earlier one."""
    parts = ("submodel-", *OTHER_ESTIMATORS, NETWORKS)
    return file_name.startswith(parts) and file_name.endswith((".skops", ".safetensors"))
