"""Tables in CSV: how they are written, and advice about one that is written in another way.

Types are guessed for a training table only; new rows are read by the kinds of training.
"""

import codecs
import gzip
import re
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from .._support import one_line
from ..errors import InputError
from ._arrow import Arrow, LoadedFile, Split, arrow_library, rows_where
from ._cells import BOOLEAN, NUMBER, CellError

NOT_FOR_FILES = ("idna", "punycode", "undefined")  # encodings that Python knows, but not of files
HEAD_BYTES = 2**16  # read from a file that gives advice
HEAD_ROWS = 1000
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
WITH_COMMA = r"[+-]?\d+,\d+"
A_NUMBER = r"\s*[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\s*"
MOSTLY = 0.95  # a text column with a larger share of numbers was meant to be one of numbers


@dataclass(frozen=True)
class CsvOptions:
    """How a CSV file is written; None means the usual: commas, decimal points, UTF-8.

    Parameters
    ----------
    sep : str, optional
        What separates cells: one character, such as ``;``. The two characters ``\\t`` stand for a
        tab.
    decimal : str, optional
        The decimal sign: ``.`` or ``,``.
    encoding : str, optional
        Such as ``utf-8``, ``utf-16``, ``latin-1`` or ``cp1252``.

    See Also
    --------
    partita.tables.open_file : Takes these options as ``csv``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from partita.tables import CsvOptions, open_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "t.csv").write_text("größe;ort\\n1,5;Köln\\n", encoding="cp1252")
    ...     file = open_file(Path(folder, "t.csv"), csv=CsvOptions(";", ",", "cp1252"))
    >>> file.target("größe").tolist()
    [1.5]
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    def with_fallback(self, stored: object) -> "CsvOptions":
        """Fill the options that are None from those that a stored model remembers.

        Parameters
        ----------
        stored : mapping or None
            What :meth:`to_dict` returned when the model was fitted.

        Returns
        -------
        CsvOptions
            These options where given, the stored ones elsewhere.
        """
        known = stored if isinstance(stored, Mapping) else {}
        return CsvOptions(
            **{
                name: known.get(name) if value is None else value
                for name, value in asdict(self).items()
            }
        )

    def to_dict(self) -> dict[str, str] | None:
        """Return the options that are not None, for a stored model to remember.

        Returns
        -------
        dict or None
            None if no option is given.
        """
        return {name: value for name, value in asdict(self).items() if value is not None} or None

    def resolve(self) -> tuple[str, str, str]:
        """Check the options and fill in the usual ones.

        Returns
        -------
        tuple of str
            Separator, decimal sign and encoding.

        Raises
        ------
        InputError
            If one of them is not valid, or the first two are the same.
        """
        sep = "," if self.sep is None else "\t" if self.sep == "\\t" else self.sep
        decimal = "." if self.decimal is None else self.decimal
        encoding = "utf-8" if self.encoding is None else self.encoding
        if not (isinstance(sep, str) and len(sep) == 1 and sep.isascii() and sep not in '\r\n"'):
            raise InputError(
                f"sep is {self.sep!r}: give one character, such as ';', or '\\t' for a tab"
            )
        if decimal not in (".", ","):
            raise InputError(f"decimal is {self.decimal!r}: give '.' or ','")
        if decimal == sep:
            raise InputError(
                f"sep and decimal are both {sep!r}, so cells and fractions cannot be told apart: "
                "give another --sep, such as ';', or another --decimal"
            )
        if not _is_file_encoding(encoding):
            raise InputError(
                f"encoding is {self.encoding!r}, which is not known: give one such as utf-8, "
                "utf-16, latin-1 or cp1252"
            )
        return sep, decimal, encoding


def _is_file_encoding(encoding: str) -> bool:
    try:
        codec = codecs.lookup(encoding)
    except (LookupError, TypeError, ValueError):
        return False
    return codec.name not in NOT_FOR_FILES and getattr(codec, "_is_text_encoding", True)


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
        by_kind = {NUMBER: arrow.float64(), BOOLEAN: arrow.bool_()}
        types = {name: by_kind.get(kind, arrow.string()) for name, kind in (kinds or {}).items()}
        try:
            table = self._read(types)
            # times are read cell by cell, in training as later; a time of day is no moment and
            # stays a string
            as_strings = [field for field in table.schema if arrow.types.is_temporal(field.type)]
            times = {field.name for field in as_strings if not arrow.types.is_time(field.type)}
            if as_strings:
                table = self._read(types | {field.name: arrow.string() for field in as_strings})
            # Arrow reads strings that are not valid UTF-8 as bytes
            if any(arrow.types.is_binary(field.type) for field in table.schema):
                raise UnicodeError
            super().__init__(path, table, times=times)
            if split is not None:
                super().__init__(path, table.filter(rows_where(self, split)), times=times)
        except InputError:
            raise
        except (OSError, ValueError, arrow.ArrowException) as exc:
            if "conversion error" in str(exc):
                self._name_bad_cell(kinds or {})
            reason = one_line(exc)
            if isinstance(exc, UnicodeError) or "UTF8" in str(exc):
                reason = (
                    f"it is not valid {self._encoding}: add --encoding with the right one, such as "
                    "--encoding cp1252"
                )
            raise InputError(
                f"{str(path)!r} cannot be read as CSV: {self.advice or reason}"
            ) from exc
        if kinds is None:
            self._warn_of_texts(table)

    def _read(self, types: Mapping[str, Arrow]) -> Arrow:
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
        """Suggest the options that the file's first lines call for; empty where there are none."""
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

    def _head(self) -> bytes:
        """Return the file's first bytes; none if it is compressed in a way other than gzip."""
        suffix = self.path.suffix.lower()
        if suffix not in (".gz", ".csv"):
            return b""
        try:
            with self.path.open("rb") as file:
                return (gzip.GzipFile(fileobj=file) if suffix == ".gz" else file).read(HEAD_BYTES)
        except (OSError, EOFError):
            return b""

    def _warn_of_texts(self, table: Arrow) -> None:
        """Warn of columns that are text only because of decimal commas, or of a few odd cells."""
        import pyarrow.compute as compute

        def match(cells: Arrow, pattern: str) -> Arrow:
            return compute.match_substring_regex(cells, f"^{pattern}$")

        commas_unread = self._sep != "," and self._options.decimal is None
        for position, field in enumerate(table.schema):  # names may occur twice
            present = table.column(position).drop_null()
            if field.type != arrow_library().string() or not len(present):
                continue
            text = f"the column {field.name!r} of {str(self.path)!r} is read as text, but"
            head = present.slice(0, HEAD_ROWS)
            if commas_unread and compute.all(match(head, WITH_COMMA)).as_py():
                commas_unread = False  # one warning is enough
                warnings.warn(
                    f"{text} holds numbers with decimal commas: add --decimal ','", stacklevel=5
                )
            if compute.mean(match(head, A_NUMBER)).as_py() <= MOSTLY:
                continue
            strange = present.filter(compute.invert(match(present, A_NUMBER)))
            if 0 < len(strange) < (1 - MOSTLY) * len(present):
                warnings.warn(
                    f"{text} {len(present) - len(strange):,} of {len(present):,} cells are "
                    f"numbers; the first other cell is {strange[0].as_py()!r}: leave such cells "
                    "empty, unless it is meant to be text",
                    stacklevel=5,
                )


def _likely_separator(lines: list[str], given: str) -> str | None:
    """Return another separator than the given one, if the lines look as if it were theirs."""
    if not lines:
        return None

    def is_regular(sep: str) -> bool:
        return len({line.count(sep) for line in lines}) == 1 and sep in lines[0]

    others = [sep for sep in ",;\t|" if sep != given]
    if given not in lines[0]:
        best = max(others, key=lines[0].count)
        return best if best in lines[0] else None
    # the header may hold the given separator in a name
    regular = [sep for sep in others if is_regular(sep)]
    return max(regular, key=lines[0].count) if regular and not is_regular(given) else None
