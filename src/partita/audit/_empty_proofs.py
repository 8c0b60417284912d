"""What to warn of before an audit's numbers: proofs that are true and say little."""

from collections import Counter

import numpy as np

from ..workflow._tally import Tally
from ._claims import Question


def emptiness(question: Question, on_training: bool = False) -> list[str]:
    """The warnings that ``partita certify`` gives for these rows: a constant, submodels that could
    not be fitted, known rows."""
    tally = Tally(len(question), Counter(question.radius.tolist()), on_training=on_training)
    if not question.of_values:
        tally.predicted = Counter(question.prediction.tolist())
    truth, radii = question.truth, question.radius_of_truth
    if truth is not None and radii is not None:
        tally.right = Counter(radii.tolist())
        if question.of_values:
            centre = question.model.rule_.centre
            tally.constant_right = (
                None
                if centre is None
                else int(np.count_nonzero(question.right(np.full(len(question), centre))))
            )
        else:
            tally.by_label = {
                label: Counter(radii[truth == label].tolist())
                for label in np.unique(truth).tolist()
            }
    return tally.warnings(question.model)
