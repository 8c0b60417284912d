"""A table that a stored model predicts and certifies: its features, its target, its rows.

Nothing is read here but what the schema of the model names.
"""

import re
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .._support import Array
from ..ensemble import DETECT, columns_that_may_lack
from ..errors import InputError
from ..tables import CsvOptions, File, Split
from ._stored_model import StoredModel

# the columns that ``partita certify`` writes; ignored columns are passed through beside them
WRITTEN = re.compile(
    r"prediction|radius|runner_up|silence_radius|(critical|silent)_units|(low|high)_\d+"
)


@dataclass(frozen=True, eq=False)
class PredictionTable:
    """A stored model and a table in a file that go together.

    Attributes
    ----------
    stored : StoredModel
        The model and its manifest.
    file : File
        The table, of which a Parquet file's columns are not read yet.
    split : (column, value), optional
        Only the rows with this value are meant.
    silent : "detect" or list of str, optional
        Silent sources.
    """

    stored: StoredModel
    file: File
    split: Split | None = None
    silent: Any = None

    @cached_property
    def on_training(self) -> bool:
        """Whether these are rows that the model was fitted on."""
        return self.stored.holds_training_rows(self.file.path, self.split)

    @property
    def columns(self) -> list[str]:
        """The columns to read: features, target, and ignored columns, which are passed through."""
        schema = self.stored.schema
        needed = {*schema.kinds, *schema.ignore, schema.target}
        return [name for name in self.file.names if name in needed]

    def truth(self, piece: File) -> Array | None:
        """The target in a piece of the table; None without one, or where values are missing."""
        target = self.stored.schema.target
        if target is None or target not in piece.names:
            return None
        if piece.has_missing(target):
            warnings.warn(
                f"the target {target!r} has missing values, so nothing is said about being right: "
                "leave out the rows without one",
                stacklevel=2,
            )
            return None
        return self.stored.schema.read_target(piece)


def open_prediction_table(
    stored: StoredModel,
    data: Any,
    split: Split | None = None,
    csv: CsvOptions | None = None,
    silent: Any = None,
) -> PredictionTable:
    """Open a table to certify; an error where its columns are not the model's.

    Parameters
    ----------
    stored : StoredModel
        The model.
    data : str or path
        A .csv or .parquet file, or a folder of Parquet files.
    split : (column, value), optional
        Only the rows with this value.
    csv : CsvOptions, optional
        How a CSV file is written, where that is not how the training table was.
    silent : "detect" or list of str, optional
        Silent sources: the table may lack their columns, which count as missing. Those of named
        sources are not read.
    """
    stored.check_rule()
    may_lack = () if silent is None else columns_that_may_lack(stored.model, silent)
    unread = () if silent == DETECT else may_lack
    file = stored.schema.open(data, split=split, csv=csv, may_lack=may_lack, unread=unread)
    for name in stored.schema.ignore:
        if name in file.names and WRITTEN.fullmatch(name):
            raise InputError(
                f"the ignored column {name!r} has the name of a column that certify writes: "
                "rename it"
            )
    return PredictionTable(stored, file, split, silent)
