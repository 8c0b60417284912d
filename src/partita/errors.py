"""Everything partita raises.

::

    PartitaError
    ├── InputError (also a ValueError)           an argument that cannot be right: its name, the cause, the cure
    ├── SubmodelError (also a ValueError         one submodel could not be fitted or could not predict
    │   and a TypeError)
    └── MissingExtraError (also an ImportError)  an optional library is not installed: how to install it
"""


class PartitaError(Exception):
    """The root of the tree."""


class InputError(PartitaError, ValueError):
    """An argument that cannot be right."""


class SubmodelError(PartitaError, ValueError, TypeError):
    """One submodel could not be fitted or could not predict."""


class MissingExtraError(PartitaError, ImportError):
    """An optional library is not installed."""

    def __init__(self, library: str, purpose: str, install: str) -> None:
        super().__init__(f"{purpose} needs {library}, which is not installed: pip install {install}")
