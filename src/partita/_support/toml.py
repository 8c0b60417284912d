"""TOML files that users write: read, or refused in words that name the argument."""

import tomllib
from pathlib import Path
from typing import Any

from ..errors import InputError
from .messages import one_line


def read_toml(path: Any, where: str) -> dict[str, Any]:
    """Read a .toml file; ``where`` names it in errors."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as exc:
        raise InputError(f"{where} does not exist: give a .toml file") from exc
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as exc:
        raise InputError(f"{where} cannot be read as TOML: {one_line(exc)}") from exc
