"""Imports on first use: a package's names, so that it is imported fast, and optional libraries."""

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.abc import InspectLoader
from types import ModuleType
from typing import Any, cast

from ..errors import MissingExtraError


@cache
def homes(package: str) -> dict[str, str]:
    """Return the module of each name that the package imports for type checkers alone."""
    spec = sys.modules[package].__spec__
    assert spec is not None
    source = cast(InspectLoader, spec.loader).get_source(package) or ""
    return {
        alias.name: f"{package}.{node.module}"
        for block in ast.parse(source).body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a package's ``__getattr__`` and ``__dir__``.

    Names and their modules are those under the package's ``if TYPE_CHECKING``: what ``__all__``
    has is for users, the rest for partita's other packages.
    """

    def package_getattr(name: str) -> Any:
        if name.startswith("__") or name not in homes(package):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes(package)[name]), name)

    def package_dir() -> list[str]:
        return list(sys.modules[package].__all__)

    return package_getattr, package_dir


def require(module: str, purpose: str, install: str | None = None) -> ModuleType:
    """Import an optional library.

    Parameters
    ----------
    module : str
        The module to import, such as ``"matplotlib.figure"``.
    purpose : str
        What needs it, as the start of a sentence: ``"a plot"``.
    install : str, optional
        What to give to pip, such as ``"partita[plot]"``; by default the library's own name.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    MissingExtraError
        If it is not installed; the message says how to install it.
    """
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError as exc:
        raise MissingExtraError(library, purpose, install or library) from exc
