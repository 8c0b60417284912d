"""Names of a package that are imported on first use, so that importing the package stays cheap."""

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.abc import InspectLoader
from typing import Any, cast


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
