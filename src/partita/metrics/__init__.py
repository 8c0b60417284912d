"""How much of a test set is certified, and how far.

``y`` holds the truth and ``proof`` what ``certify`` returned for the same rows. Everything here is
counting on arrays.
"""

from ._scorer import certified_score, certified_scorer, certify_against, check_score, find_certifier
from ._scores import (
    Alarms,
    ClassCurve,
    Curve,
    Envelope,
    SetCurve,
    certified_accuracy,
    certified_accuracy_curve,
    certified_alarms,
    certified_balanced_accuracy,
    certified_class_curves,
    certified_recall,
    class_curve,
    correct_radius,
    envelope,
    label_set_curve,
    median_radius,
    rows_at_radii,
    shares_at_radii,
    worst_case_precision,
)

__all__ = [
    "Alarms",
    "ClassCurve",
    "Curve",
    "Envelope",
    "SetCurve",
    "certified_accuracy",
    "certified_accuracy_curve",
    "certified_alarms",
    "certified_balanced_accuracy",
    "certified_class_curves",
    "certified_recall",
    "certified_scorer",
    "envelope",
    "label_set_curve",
    "median_radius",
    "worst_case_precision",
]
