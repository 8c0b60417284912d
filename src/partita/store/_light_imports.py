"""Importing skops imports every module of scikit-learn, and with them PyTorch where it is
installed: seconds and 300 MB for no use."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from threading import get_ident
from typing import Any


class _NoTorch(MetaPathFinder):
    def __init__(self) -> None:
        self._thread = get_ident()  # what other threads import meanwhile is their affair

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "torch" and get_ident() == self._thread:
            raise ImportError("PyTorch is not needed here")


@contextmanager
def without_torch() -> Iterator[None]:
    """What is imported within goes without PyTorch, unless it is there already; later it can be
    imported as ever."""
    finder = _NoTorch()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
