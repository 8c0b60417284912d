"""Findings that would void a proof: a warning, or an error where the user asked to be strict."""

import warnings

from ..errors import SoundnessError, SoundnessWarning


def warn_or_raise(message: str, strict: bool) -> None:
    """Raise SoundnessError if ``strict``, else warn with SoundnessWarning."""
    if strict:
        raise SoundnessError(message)
    warnings.warn(message, SoundnessWarning, stacklevel=2)
