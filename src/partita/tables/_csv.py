"""Tables in CSV: separators, decimal signs and encodings, and what to say about a file that was
written in another way."""

import codecs
import gzip
import re
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from ._arrow import arrow_library, first_line
from ._file import LoadedFile, Split, rows_where
from ._kinds import BOOLEAN, NUMBER, TEXT, TIME, CellError

LOOKED_AT = 2**16  # bytes at the beginning of a file that cannot be read
ROWS_LOOKED_AT = 1000
NOT_FOR_FILES = ("idna", "punycode", "undefined")
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
WITH_COMMA = r"[+-]?\d+,\d+"


@dataclass(frozen=True)
class CsvOptions:
    """How a CSV file is written; None: as usual, with commas, decimal points and in UTF-8.

    Attributes
    ----------
    sep : str, optional
        What stands between cells: one character, such as ``;``. The two characters ``\\t`` stand
        for a tab.
    decimal : str, optional
        What stands before the fraction of a number: ``.`` or ``,``.
    encoding : str, optional
        Such as ``utf-8``, ``utf-16``, ``latin-1`` or ``cp1252``.
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    def over(self, stored: Any) -> "CsvOptions":
        """These options, and those that a stored model remembers where these say nothing."""
        if stored is None:
            return self
        known = stored if isinstance(stored, Mapping) else {}
        given = {
            name: value if value is not None else known.get(name)
            for name, value in asdict(self).items()
        }
        return CsvOptions(**given)

    def to_dict(self) -> dict[str, str] | None:
        """What a stored model remembers: the options that were given; None if none was."""
        return {name: value for name, value in asdict(self).items() if value is not None} or None

    def settled(self) -> tuple[str, str, str]:
        """Separator, decimal sign and encoding; an error where one of them is not valid."""
        sep = "," if self.sep is None else "\t" if self.sep == "\\t" else self.sep
        decimal, encoding = (
            "." if self.decimal is None else self.decimal,
            "utf-8" if self.encoding is None else self.encoding,
        )
        if not (isinstance(sep, str) and len(sep) == 1 and sep.isascii() and sep not in '\r\n"'):
            raise InputError(
                f"sep is {self.sep!r}: give one character, such as ';', or '\\t' for a tab"
            )
        if decimal not in (".", ","):
            raise InputError(f"decimal is {self.decimal!r}: give '.' or ','")
        if decimal == sep:
            raise InputError(
                f"sep and decimal are both {sep!r}, so cells and fractions cannot be told apart: "
                "give another --sep, such as ';', or "
                "another --decimal"
            )
        try:
            known = codecs.lookup(encoding)
        except (LookupError, TypeError, ValueError):
            known = None
        if (
            known is None
            or known.name in NOT_FOR_FILES
            or not getattr(known, "_is_text_encoding", True)
        ):
            raise InputError(
                f"encoding is {self.encoding!r}, which is not known: give one such as utf-8, "
                "utf-16, latin-1 or cp1252"
            )
        return sep, decimal, encoding


USUAL = CsvOptions()


class CsvFile(LoadedFile):
    """A CSV file is read once, as a whole."""

    def __init__(
        self,
        path: Path,
        kinds: Mapping[str, str] | None,
        split: Split | None,
        options: CsvOptions | None = None,
    ) -> None:
        self.path = path
        self._options = USUAL if options is None else options
        self._sep, self._decimal, self._encoding = self._options.settled()
        arrow = arrow_library()
        wanted = {
            NUMBER: arrow.float64(),
            BOOLEAN: arrow.bool_(),
            TIME: arrow.string(),
            TEXT: arrow.string(),
        }
        types = {name: wanted[kind] for name, kind in (kinds or {}).items()}
        try:
            table = self._read(types)
            times = {
                field.name
                for field in table.schema
                if arrow.types.is_timestamp(field.type) or arrow.types.is_date(field.type)
            }
            # a time is read cell by cell, now as later; a time of day is no moment and stays a text
            texts = times | {
                field.name for field in table.schema if arrow.types.is_time(field.type)
            }
            if texts:
                table = self._read(types | dict.fromkeys(texts, arrow.string()))
            self._check_texts(table)
            super().__init__(path, table, times=times)
            if split is not None:
                super().__init__(path, table.filter(rows_where(self, split)), times=times)
        except InputError:
            raise
        except (OSError, ValueError, arrow.ArrowException) as exc:
            if "conversion error" in str(exc):
                self._name_bad_cell(kinds or {})
            reason = self.advice or (
                self._other_encoding if _is_about_encoding(exc) else first_line(exc)
            )
            raise InputError(f"{str(path)!r} cannot be read as CSV: {reason}") from exc
        if kinds is None:
            self._look_for_decimal_commas(table)

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
        """Say which cell it is that cannot be read by its column's kind."""
        try:
            texts = self._read({name: arrow_library().string() for name in kinds})
            columns = {
                name: texts.column(name).to_pylist()
                for name, kind in kinds.items()
                if kind in (NUMBER, BOOLEAN) and name in texts.column_names
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
        """Which options the file's first lines suggest; nothing where they suggest none."""
        head = self._head()
        if self._options.encoding is None and head.startswith(UTF_16):
            return "it is in UTF-16: add --encoding utf-16"
        lines = head.decode(self._encoding, "replace").splitlines()[:10]
        if not lines or self._sep in lines[0]:
            return ""
        sep = max(",;\t|", key=lines[0].count)
        if sep not in lines[0]:
            return ""
        shown = "\\t" if sep == "\t" else sep
        cells = [cell for line in lines[1:] for cell in line.split(sep)]
        has_commas = self._options.decimal is None and any(
            re.fullmatch(WITH_COMMA, cell) for cell in cells
        )
        decimal = (
            " --decimal ','" if has_commas else " --decimal '.'" if sep == self._decimal else ""
        )
        return f"its columns look separated by '{shown}': add --sep '{shown}'{decimal}"

    @property
    def _other_encoding(self) -> str:
        return f"it is not valid {self._encoding}: add --encoding with the right one, such as --encoding cp1252"

    def _head(self) -> bytes:
        """The file's first bytes; none of one that is compressed in a way other than gzip."""
        opened: Any = {".gz": gzip.open, ".csv": open}.get(self.path.suffix.lower())
        if opened is None:
            return b""
        try:
            with opened(self.path, "rb") as content:
                return bytes(content.read(LOOKED_AT))
        except (OSError, EOFError):
            return b""

    def _check_texts(self, table: Any) -> None:
        """Arrow reads a text that is no UTF-8 as bytes."""
        for field in table.schema:
            if arrow_library().types.is_binary(field.type):
                raise InputError(
                    f"{str(self.path)!r} cannot be read as CSV: "
                    f"{self.advice or self._other_encoding}"
                )

    def _look_for_decimal_commas(self, table: Any) -> None:
        """Warn of columns that would be texts only because their numbers are written with
        commas."""
        import pyarrow.compute

        if self._sep == "," or self._options.decimal is not None:
            return
        for field in table.schema:
            if field.type == arrow_library().string():
                cells = table.column(field.name).slice(0, ROWS_LOOKED_AT).drop_null()
                if (
                    len(cells)
                    and pyarrow.compute.all(
                        pyarrow.compute.match_substring_regex(cells, f"^{WITH_COMMA}$")
                    ).as_py()
                ):
                    warnings.warn(
                        f"the column {field.name!r} of {str(self.path)!r} is read as text, but "
                        "holds numbers with decimal commas: add "
                        "--decimal ','",
                        stacklevel=5,
                    )
                    return


def _is_about_encoding(exc: BaseException) -> bool:
    return isinstance(exc, UnicodeError) or "UTF8" in str(exc)
