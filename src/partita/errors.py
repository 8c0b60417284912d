"""Everything partita raises.

::

    PartitaError
    ├── InputError (also a ValueError)            an argument that is not valid: its name, the
    │                                             cause, the cure
    ├── SubmodelError (also ValueError,           one submodel could not be fitted, or could not
    │   TypeError)                                predict
    ├── StoreError (also a ValueError)            a stored model that cannot be read or trusted, or
    │                                             a model that cannot be stored
    ├── SoundnessError (also a ValueError)        something voids the proof for certain, or would
    │                                             void it and strict=True
    └── MissingExtraError (also an ImportError)   an optional library is not installed: how to
                                                  install it

    UserWarning
    ├── SoundnessWarning                          something would void the proof: what, and how to
    │                                             fix it
    ├── SubmodelWarning                           a submodel failed and casts a fixed vote
    │                                             (on_failure="vote")
    └── EmptyProofWarning                         a proof that is true and says little: the model is
                                                  (nearly) a constant
"""

__all__ = [
    "EmptyProofWarning",
    "InputError",
    "MissingExtraError",
    "PartitaError",
    "SoundnessError",
    "SoundnessWarning",
    "StoreError",
    "SubmodelError",
    "SubmodelWarning",
]


class PartitaError(Exception):
    """Base class of all errors that partita raises.

    Examples
    --------
    >>> import partita
    >>> try:
    ...     partita.certify([[1, 2]], "plurality")
    ... except partita.PartitaError as exc:
    ...     print(exc)
    ballots has shape (1, 2): it must be (rows, submodels, classes)
    """


class InputError(PartitaError, ValueError):
    """Raised for an argument that is not valid; the message names it, the cause and the cure."""


class SubmodelError(PartitaError, ValueError, TypeError):
    """Raised when a submodel cannot be fitted or cannot predict."""


class StoreError(PartitaError, ValueError):
    """Raised for a stored model that cannot be read or trusted, or one that cannot be stored."""


class SoundnessError(PartitaError, ValueError):
    """Raised when something would void the proof and ``strict=True``, or voids it for certain."""


class SoundnessWarning(UserWarning):
    """Something would void the proof; an error with ``strict=True``."""


class SubmodelWarning(UserWarning):
    """A submodel failed and casts a fixed vote (``on_failure="vote"``)."""


class EmptyProofWarning(UserWarning):
    """The model is (nearly) a constant: its radii are true and say little."""


class MissingExtraError(PartitaError, ImportError):
    """Raised when an optional library is not installed.

    Parameters
    ----------
    library : str
        The library that is missing.
    purpose : str
        What needs it, as the start of a sentence.
    install : str
        What to give to pip.

    Examples
    --------
    >>> from partita import MissingExtraError
    >>> print(MissingExtraError("matplotlib", "a plot", "partita[plot]"))
    a plot needs matplotlib, which is not installed: pip install 'partita[plot]'
    """

    def __init__(self, library: str, purpose: str, install: str) -> None:
        quoted = f"'{install}'" if "[" in install else install  # shells expand brackets
        super().__init__(f"{purpose} needs {library}, which is not installed: pip install {quoted}")
        self._arguments = (library, purpose, install)

    def __reduce__(self) -> tuple[type["MissingExtraError"], tuple[str, str, str]]:
        return MissingExtraError, self._arguments  # an error may come back from another process
