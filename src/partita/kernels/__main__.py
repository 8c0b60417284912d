"""Compile every kernel once and leave the result in numba's cache."""

import numpy as np

from . import decide, stay_inside

for dtype in (np.float32, np.float64):
    ballots = np.zeros((2, 3, 3), dtype)
    for name, setting in (("plurality", 0), ("runoff", False), ("tournament", 0.0)):
        decide(name, ballots, setting)
    decide("topk", ballots, 1, labels=np.zeros(2, np.int64))
stay_inside(np.zeros((2, 3)), np.zeros(2), np.zeros(2))
