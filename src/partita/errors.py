"""Everything partita raises.

::

    PartitaError
    ├── InputError (also a ValueError)           an argument that cannot be right: its name, the
    cause, the cure ├── SubmodelError (also a ValueError         one submodel could not be fitted or
    could not predict │   and a TypeError) ├── StoreError (also a ValueError)           a stored
    model that cannot be read or trusted, or a model that cannot be stored ├── SoundnessError (also
    a ValueError)       what would have been a SoundnessWarning, under strict=True └──
    MissingExtraError (also an ImportError)  an optional library is not installed: how to install it

    UserWarning
    ├── SoundnessWarning                         something would void the proof: what breaks, and
    how to mend it ├── SubmodelWarning                          a submodel failed and casts a fixed
    vote (on_failure="vote") └── EmptyProofWarning                        a proof that is true and
    says little: the model is (nearly) a constant
"""


class PartitaError(Exception):
    """The root of the tree."""


class InputError(PartitaError, ValueError):
    """An argument that cannot be right."""


class SubmodelError(PartitaError, ValueError, TypeError):
    """One submodel could not be fitted or could not predict."""


class StoreError(PartitaError, ValueError):
    """A stored model that cannot be read or trusted, or a model that cannot be stored."""


class SoundnessError(PartitaError, ValueError):
    """Something would void the proof, and the user asked to be strict."""


class SoundnessWarning(UserWarning):
    """Something would void the proof."""


class SubmodelWarning(UserWarning):
    """A submodel failed and casts a fixed vote."""


class EmptyProofWarning(UserWarning):
    """The model is (nearly) a constant: its radii are true and say little."""


class MissingExtraError(PartitaError, ImportError):
    """An optional library is not installed."""

    def __init__(self, library: str, purpose: str, install: str) -> None:
        quoted = (
            f"'{install}'" if "[" in install else install
        )  # a shell may take brackets for a pattern
        super().__init__(f"{purpose} needs {library}, which is not installed: pip install {quoted}")
        self._made_of = (library, purpose, install)

    def __reduce__(
        self,
    ) -> tuple[
        type["MissingExtraError"], tuple[str, str, str]
    ]:  # an error may come back from another process
        return MissingExtraError, self._made_of
