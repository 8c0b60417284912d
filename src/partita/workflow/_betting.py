"""A test that may be looked at after every row: betting against "nothing has changed".

Somebody starts with a wealth of 1 and bets, before every row, on a contradiction. If contradictions
have a probability of at most p0, given the past, no bet is favourable, so the wealth is a
nonnegative supermartingale, and it ever reaches 1/a with a probability of at most a (Ville's
inequality), whenever and however often one looks. Nothing here knows models or sources.

One bet with factor f multiplies the wealth by f / (1 + (f - 1) p0) at a contradiction and by
1 / (1 + (f - 1) p0) otherwise: (1 + (f - 1) p) / (1 + (f - 1) p0) <= 1 on average for p <= p0. The
wealth is a mixture over several factors, and over the row at which betting begins: row n gets the
share 1 / (n (n + 1)), and 1 / (n + 1) is not at stake yet. So a change after many quiet rows is
found nearly as soon as one at the start, and nothing ever starts anew.
"""

import numpy as np

from .._support import Array

# The odds of a contradiction, against the usual odds. A few do: the best of them is nearly as good
# as the right one, and the mixture loses a factor of at most their number.
FACTORS = np.array([1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 200.0])
ROUNDING = 1e-6  # by which a logarithm of wealth must be above its limit; far above any rounding


class Bets:
    """The wealth of several tests, one for each source, row after row.

    Parameters
    ----------
    p0 : array of shape (n_tests,)
        What the probability of a contradiction is at most, if nothing has changed.
    """

    def __init__(self, p0: Array) -> None:
        excess = np.log1p((FACTORS - 1) * np.asarray(p0, dtype=np.float64)[:, None])
        self._lose = -excess
        self._win = np.log(FACTORS) - excess
        self.n_rows = 0
        self.log_stakes: Array = np.full(excess.shape, -np.inf)  # (tests, factors); all is idle

    def update(self, contradicts: Array, counted: Array) -> Array:
        """Bet on further rows, each array bool (rows, tests).

        Returns
        -------
        array of shape (n_rows, n_tests)
            The logarithm of each test's wealth after each row.
        """
        if not len(contradicts):
            return np.empty(contradicts.shape)
        step = np.where(contradicts[:, :, None], self._win, self._lose)
        growth = np.cumsum(np.where(counted[:, :, None], step, 0.0), axis=0)
        n = self.n_rows + np.arange(1, len(contradicts) + 1, dtype=np.float64)
        # a stake that begins before row k grows by everything from row k on
        begins = -np.log(n * (n + 1))[:, None, None] - (
            np.concatenate([np.zeros((1, *growth.shape[1:])), growth[:-1]])
        )
        stakes = np.logaddexp.accumulate(np.concatenate([self.log_stakes[None], begins]), axis=0)
        log_stakes = stakes[1:] + growth
        self.n_rows += len(contradicts)
        self.log_stakes = log_stakes[-1]
        staked = np.logaddexp.reduce(log_stakes, axis=2) - np.log(len(FACTORS))
        return np.asarray(np.logaddexp(staked, -np.log(n + 1)[:, None]))
