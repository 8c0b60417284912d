"""How much of a test set is certified, and how far.

``y`` holds the truth and ``proof`` what ``certify`` returned for the same rows. Everything here is
counting on arrays: it needs numpy alone and knows no models.
"""

from ._alarms import Alarms, certified_alarms
from ._class_curves import ClassCurve, certified_class_curves
from ._curves import Curve, Envelope, certified_accuracy_curve, envelope
from ._scorer import certified_scorer
from ._scores import (
    certified_accuracy,
    certified_balanced_accuracy,
    certified_recall,
    median_radius,
    worst_case_precision,
)

__all__ = [
    "Alarms",
    "ClassCurve",
    "Curve",
    "Envelope",
    "certified_accuracy",
    "certified_accuracy_curve",
    "certified_alarms",
    "certified_balanced_accuracy",
    "certified_class_curves",
    "certified_recall",
    "certified_scorer",
    "envelope",
    "median_radius",
    "worst_case_precision",
]
