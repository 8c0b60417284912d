"""Tables in CSV, and advice about a file that is written in another way than the options say.

Types are guessed for a training table only; new rows are read by the kinds of training.
"""

import codecs
import gzip
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._support import one_line
from ..errors import InputError
from ._arrow import arrow_library
from ._csv_options import CsvOptions
from ._file import LoadedFile, Split, rows_where
from ._kinds import BOOLEAN, NUMBER, TEXT, TIME, CellError

HEAD_BYTES = 2**16  # read from a file that gives advice
HEAD_ROWS = 1000
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
WITH_COMMA = r"[+-]?\d+,\d+"
A_NUMBER = r"\s*[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\s*"
MOSTLY = 0.95  # a text column with a larger share of numbers was meant to be one of numbers


class CsvFile(LoadedFile):
    """A CSV file, read once and as a whole."""

    def __init__(
        self,
        path: Path,
        kinds: Mapping[str, str] | None,
        split: Split | None,
        options: CsvOptions | None = None,
    ) -> None:
        self.path = path
        self._options = CsvOptions() if options is None else options
        self._sep, self._decimal, self._encoding = self._options.resolve()
        arrow = arrow_library()
        arrow_types = {
            NUMBER: arrow.float64(),
            BOOLEAN: arrow.bool_(),
            TIME: arrow.string(),
            TEXT: arrow.string(),
        }
        types = {name: arrow_types[kind] for name, kind in (kinds or {}).items()}
        try:
            table = self._read(types)
            times = {
                field.name
                for field in table.schema
                if arrow.types.is_timestamp(field.type) or arrow.types.is_date(field.type)
            }
            # times are read cell by cell, in training as later; a time of day is no moment and
            # stays a string
            as_strings = times | {
                field.name for field in table.schema if arrow.types.is_time(field.type)
            }
            if as_strings:
                table = self._read(types | dict.fromkeys(as_strings, arrow.string()))
            self._check_strings(table)
            super().__init__(path, table, times=times)
            if split is not None:
                super().__init__(path, table.filter(rows_where(self, split)), times=times)
        except InputError:
            raise
        except (OSError, ValueError, arrow.ArrowException) as exc:
            if "conversion error" in str(exc):
                self._name_bad_cell(kinds or {})
            reason = self.advice or (
                self._encoding_advice if _is_about_encoding(exc) else one_line(exc)
            )
            raise InputError(f"{str(path)!r} cannot be read as CSV: {reason}") from exc
        if kinds is None:
            self._warn_of_decimal_commas(table)
            self._warn_of_stray_texts(table)

    def _read(self, types: dict[str, Any]) -> Any:
        import pyarrow.csv

        return pyarrow.csv.read_csv(
            self.path,
            read_options=pyarrow.csv.ReadOptions(encoding=self._encoding),
            parse_options=pyarrow.csv.ParseOptions(delimiter=self._sep, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=types,
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                decimal_point=self._decimal,
            ),
        )

    def _name_bad_cell(self, kinds: Mapping[str, str]) -> None:
        """Raise a CellError for the first cell that cannot be read by its column's kind."""
        try:
            as_strings = self._read({name: arrow_library().string() for name in kinds})
            columns = {
                name: as_strings.column(name).to_pylist()
                for name, kind in kinds.items()
                if kind in (NUMBER, BOOLEAN) and name in as_strings.column_names
            }
        except (OSError, ValueError, arrow_library().ArrowException):
            return
        for name, values in columns.items():
            for row, value in enumerate(values):
                if value is not None and not self._reads_as(value.strip(), kinds[name]):
                    raise CellError(row, name, kinds[name], value)

    def _reads_as(self, text: str, kind: str) -> bool:
        if kind == BOOLEAN:
            return text.lower() in ("true", "false", "0", "1")
        if self._decimal != ".":
            if "." in text:
                return False
            text = text.replace(self._decimal, ".")
        try:
            float(text)
        except ValueError:
            return False
        return True

    # ---- what may be wrong ----

    @property
    def advice(self) -> str:  # type: ignore[override]
        """The options that the file's first lines suggest; empty where they suggest none."""
        head = self._head()
        if self._options.encoding is None and head.startswith(UTF_16):
            return "it is in UTF-16: add --encoding utf-16"
        lines = head.decode(self._encoding, "replace").splitlines()[:10]
        sep = _likely_separator(lines, self._sep)
        if sep is None:
            return ""
        shown = "\\t" if sep == "\t" else sep
        has_commas = self._options.decimal is None and any(
            re.fullmatch(WITH_COMMA, cell) for line in lines[1:] for cell in line.split(sep)
        )
        decimal = (
            " --decimal ','" if has_commas else " --decimal '.'" if sep == self._decimal else ""
        )
        return f"its columns look separated by '{shown}': add --sep '{shown}'{decimal}"

    @property
    def _encoding_advice(self) -> str:
        return (
            f"it is not valid {self._encoding}: add --encoding with the right one, such as "
            "--encoding cp1252"
        )

    def _head(self) -> bytes:
        """The file's first bytes; none of one that is compressed in a way other than gzip."""
        open_bytes: Any = {".gz": gzip.open, ".csv": open}.get(self.path.suffix.lower())
        if open_bytes is None:
            return b""
        try:
            with open_bytes(self.path, "rb") as content:
                return bytes(content.read(HEAD_BYTES))
        except (OSError, EOFError):
            return b""

    def _check_strings(self, table: Any) -> None:
        """Refuse columns of bytes: Arrow reads strings that are not valid UTF-8 as such."""
        for field in table.schema:
            if arrow_library().types.is_binary(field.type):
                raise InputError(
                    f"{str(self.path)!r} cannot be read as CSV: "
                    f"{self.advice or self._encoding_advice}"
                )

    def _warn_of_decimal_commas(self, table: Any) -> None:
        """Warn of a column that is text only because its numbers are written with commas."""
        import pyarrow.compute

        if self._sep == "," or self._options.decimal is not None:
            return
        for position, field in enumerate(table.schema):  # names may occur twice
            if field.type != arrow_library().string():
                continue
            present = table.column(position).slice(0, HEAD_ROWS).drop_null()
            matches = pyarrow.compute.match_substring_regex(present, f"^{WITH_COMMA}$")
            if len(present) and pyarrow.compute.all(matches).as_py():
                warnings.warn(
                    f"the column {field.name!r} of {str(self.path)!r} is read as text, but holds "
                    "numbers with decimal commas: add --decimal ','",
                    stacklevel=5,
                )
                return

    def _warn_of_stray_texts(self, table: Any) -> None:
        """Warn of a column that is text only because a few of its cells are not numbers."""
        import pyarrow.compute as compute

        def are_numbers(cells: Any) -> Any:
            return compute.match_substring_regex(cells, f"^{A_NUMBER}$")

        for position, field in enumerate(table.schema):  # names may occur twice
            if field.type != arrow_library().string():
                continue
            present = table.column(position).drop_null()
            head = present.slice(0, HEAD_ROWS)
            if not len(head) or compute.mean(are_numbers(head)).as_py() <= MOSTLY:
                continue
            strange = present.filter(compute.invert(are_numbers(present)))
            if 0 < len(strange) < (1 - MOSTLY) * len(present):
                warnings.warn(
                    f"the column {field.name!r} of {str(self.path)!r} is read as text, but "
                    f"{len(present) - len(strange):,} of {len(present):,} cells are numbers; the "
                    f"first other cell is {strange[0].as_py()!r}: leave such cells empty, unless "
                    "it is meant to be text",
                    stacklevel=5,
                )


def _likely_separator(lines: list[str], given: str) -> str | None:
    """Another separator than the given one, if the lines look as if it were theirs."""
    if not lines:
        return None

    def is_regular(sep: str) -> bool:
        """Whether every line has it, equally often."""
        return len({line.count(sep) for line in lines}) == 1 and sep in lines[0]

    others = [sep for sep in ",;\t|" if sep != given]
    if given not in lines[0]:
        best = max(others, key=lines[0].count)
        return best if best in lines[0] else None
    # the header may hold the given separator in a name
    regular = [sep for sep in others if is_regular(sep)]
    return max(regular, key=lines[0].count) if regular and not is_regular(given) else None


def _is_about_encoding(exc: BaseException) -> bool:
    return isinstance(exc, UnicodeError) or "UTF8" in str(exc)
