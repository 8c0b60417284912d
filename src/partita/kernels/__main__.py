"""Compile every kernel once and leave the result in numba's cache."""

import numpy as np

from ..collective import certify_collective
from ..rules import Median, Plurality, RunOff, TopK, Tournament

REACH = np.eye(3, dtype=bool)

for dtype in (np.float32, np.float64):
    ballots = np.zeros((2, 3, 3), dtype)
    for rule in (Plurality(), RunOff(), Tournament()):
        rule.certify(ballots, reach=REACH)
    TopK(1).certify(ballots, [0, 0], reach=REACH)
Median().certify(np.zeros((2, 3)), np.zeros(2), np.zeros(2), reach=REACH)
certify_collective(np.zeros((2, 3, 3)), 1, "plurality")
