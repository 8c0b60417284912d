"""What would void the proof, as far as it can be seen before training."""

import warnings
from typing import Any

from .errors import SoundnessError, SoundnessWarning


def tell(message: str, strict: bool) -> None:
    """Warn, or refuse where the user asked to be strict."""
    if strict:
        raise SoundnessError(message)
    warnings.warn(message, SoundnessWarning, stacklevel=2)


def check_settings(ensemble: Any, estimator: Any) -> None:
    """Settings under which training again on the same columns gives other votes."""
    for name, value in sorted(estimator.get_params().items()):
        if name.split("__")[-1] == "warm_start" and value:
            tell(
                f"{name}=True lets a submodel start from an earlier fit, so its votes depend on more than its columns: set it to False",
                ensemble.strict,
            )
    if not isinstance(ensemble.random_state, int) and not hasattr(ensemble.random_state, "__index__"):
        tell(
            f"random_state={ensemble.random_state!r} gives other submodels at every fit, so the proof holds only for the one drawn now: "
            "give a number",
            ensemble.strict,
        )
