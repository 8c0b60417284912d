"""An import hook that keeps PyTorch out of an import that does not need it.

Importing skops imports every module of scikit-learn, and with them PyTorch where it is installed:
seconds and 300 MB for nothing. Other threads, and later imports, must not notice the hook.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from threading import get_ident
from typing import Any


class _NoTorch(MetaPathFinder):
    def __init__(self) -> None:
        self._thread = get_ident()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "torch" and get_ident() == self._thread:
            raise ImportError("PyTorch is not needed here")


@contextmanager
def without_torch() -> Iterator[None]:
    """Imports in this block, on this thread, go without PyTorch unless it is loaded already."""
    finder = _NoTorch()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
