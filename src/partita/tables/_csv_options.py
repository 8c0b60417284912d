"""How a CSV file is written: separator, decimal sign, encoding."""

import codecs
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import InputError

NOT_FOR_FILES = ("idna", "punycode", "undefined")  # encodings that Python knows, but not of files


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

    def with_fallback(self, stored: Any) -> "CsvOptions":
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
        if stored is None:
            return self
        known = stored if isinstance(stored, Mapping) else {}
        options = {
            name: value if value is not None else known.get(name)
            for name, value in asdict(self).items()
        }
        return CsvOptions(**options)

    def to_dict(self) -> dict[str, str] | None:
        """The options that are not None, for a stored model to remember.

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


def _is_file_encoding(encoding: Any) -> bool:
    try:
        codec = codecs.lookup(encoding)
    except (LookupError, TypeError, ValueError):
        return False
    return codec.name not in NOT_FOR_FILES and getattr(codec, "_is_text_encoding", True)
