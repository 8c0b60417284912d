"""Compile every kernel once and leave the result in numba's cache."""

import numpy as np

from ..collective import certify_collective
from ..rules import Agreement, Median, Plurality, RunOff, TopK, Tournament
from . import pooled_means, pooled_votes, tree_sums

REACH = np.eye(3, dtype=bool)

for dtype in (np.float32, np.float64):
    ballots = np.zeros((2, 3, 3), dtype)
    for rule in (Plurality(), RunOff(), Tournament()):
        rule.certify(ballots, reach=REACH).survives(1, 1)
        rule.prediction_set(ballots)
    TopK(1).certify(ballots, [0, 0], reach=REACH).survives(1, 1)
Median().certify(np.zeros((2, 3)), np.zeros(2), np.zeros(2), reach=REACH)
certify_collective(np.zeros((2, 3, 3)), 1, "plurality")
FEATURE, LEFT, RIGHT = np.array([[-1], [0], [-1]], np.int32)  # one leaf
NODES = (FEATURE, np.zeros(1), LEFT, RIGHT, np.zeros(1, bool))
CODES = (np.zeros(0, np.int32), np.zeros((0, 8), np.uint32))
tree_sums(np.zeros((1, 1)), NODES, CODES, np.zeros(1, np.int32), np.zeros(1))
LEFT_OUT = ~np.eye(3, dtype=bool)
Agreement().certify([[0, 1, 0]], LEFT_OUT)
Agreement().interval([[0.0, 1.0, 0.0]], LEFT_OUT)
POOLS = (np.array([0, 1]), np.array([0]))
pooled_votes(np.zeros((1, 1, 2)), *POOLS)
pooled_means(np.zeros((1, 1)), *POOLS)
