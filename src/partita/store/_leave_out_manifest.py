"""What a manifest holds of a leave-out ensemble: its groups, and the groups each member leaves out.

The rule follows from these, so it is built from them and not stored. Sizes are checked before
anything is enumerated.
"""

from typing import Any

from ..errors import StoreError
from ..partition import LeaveOut, Partition, Units
from ._layout import MANIFEST
from ._manifest_checks import whole_number

SETTINGS = ("max_models", "leave_out", "training")


def leave_out_facts(model: Any) -> dict[str, Any]:
    """What is stored of the members' sets."""
    # of what was fitted: settings may have been changed since
    training = model.training
    if hasattr(model, "estimators_"):
        training = "trusted" if model.trusts_training else "attackable"
    return {
        "radius": int(model.partition_.radius),
        "left_out": [list(groups) for groups in model.partition_.left_out],
        "probabilities": bool(getattr(model.rule_, "as_probabilities", False)),
        **{name: getattr(model, name) for name in SETTINGS},
        "training": training,
    }


def build_leave_out(
    cls: Any, manifest: dict[str, Any], units: Units, settings: dict[str, Any], seed: int
) -> Any:
    """The ensemble with its sets and its rule, not fitted yet."""
    facts = manifest["leave_out"]
    for part in ("gate", "networks"):
        if manifest.get(part) is not None:
            raise StoreError(f"{MANIFEST} is damaged: a model that leaves units out has no {part}")
    if type(facts["probabilities"]) is not bool:
        raise StoreError(f"{MANIFEST} is damaged: probabilities is neither true nor false")
    radius = whole_number(facts["radius"], "radius", least=1)
    groups = Partition(manifest["partition"]["sets"])
    left_out = tuple(
        tuple(whole_number(group, "left_out") for group in one) for one in facts["left_out"]
    )
    sets = LeaveOut(groups, radius, left_out)
    if sum(not one for one in left_out) != int(cls.fits_full_member) or (
        cls.fits_full_member and left_out[-1]
    ):
        raise StoreError(f"{MANIFEST} is damaged: its model on all columns is not the last one")
    model = cls(
        radius=radius,
        partition=groups,
        units=units,
        random_state=seed,
        **settings,
        **{name: facts[name] for name in SETTINGS},
    )
    model.units_, model.partition_ = units, sets
    model.rule_ = model.agreement_rule(sets)
    if cls.fits_full_member:
        model.rule_.as_probabilities = facts["probabilities"]
    return model
