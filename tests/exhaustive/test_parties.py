"""Parties who lie, rave or fall silent in every way there is: what was certified stays.

Every question that a few parties can answer is listed with every answer, silence among them. An
attacker who owns r parties turns one list of answers into any other that differs in at most r.
Answers pass through the bytes that a coordinator reads."""

from itertools import combinations, permutations, product

import numpy as np
import pytest

from partita.rules import Median, Plurality, RunOff, Tournament
from partita.serve import Federation, Party
from partita.serve.federation._client import Reply, answer_bytes

MALFORMED = [b"", b"[]", b'{"classes": ["a", "b"], "ballots": [[0, NaN]]}', b"\xff"]
LABELS = {2: ["a", "b"], 3: ["a", "b", "c"]}


def answered(options, choices, classes, **settings):
    """Every party's answer to one row per choice of options, as the coordinator understands it.

    Option 0 is silence: a null for that row alone."""
    n_parties = choices.shape[1]
    names = [Party(f"{k}", f"http://127.0.0.1:{k + 1}") for k in range(n_parties)]
    federation = Federation(names, classes=classes, **settings)
    replies = [
        Reply(answer_bytes(classes, options[own], f"{k:064x}"), "", 0.0)
        for k, own in enumerate(choices.T)
    ]
    return federation, federation._understood(replies, len(choices)).ballots


def check(holds, radius, choices, n_options, identities=None):
    """No attack on at most ``radius`` parties breaks a row; ``holds(row, others)`` judges.

    The owner of a party owns the answers at all positions with its identity."""
    n_parties = choices.shape[1]
    place = n_options ** np.arange(n_parties)[::-1]
    own = np.arange(n_parties) if identities is None else np.array(identities)
    for r in range(1, len(set(own)) + 1):
        rows = np.flatnonzero(radius >= r)
        for parties in combinations(sorted(set(own)), r):
            owned = np.flatnonzero(np.isin(own, parties))
            kept = choices.copy()
            kept[:, owned] = 0
            for lies in product(range(n_options), repeat=len(owned)):
                attacked = kept[rows] @ place + np.dot(lies, place[owned])
                assert holds(rows, attacked).all(), (owned, lies)


@pytest.mark.parametrize(
    ("rule", "n_labels", "n_parties"),
    [
        (Plurality(), 3, 4),
        (RunOff(), 3, 4),
        (RunOff(exact=True), 3, 4),
        (Tournament(margin=0.0), 3, 4),
        (Tournament(margin=1.5), 3, 4),
        (Tournament(shares=[0.8, 0.2]), 2, 5),
        (Tournament(margin=2.0, offset=[0.0, 1.5]), 2, 5),
    ],
    ids=repr,
)
def test_labels_against_every_party(rule, n_labels, n_parties):
    scores = [[-9.0 * k for k in order] for order in permutations(range(n_labels))]
    scores += [[0.0] * n_labels] if n_labels == 2 else []
    options = np.array([[np.nan] * n_labels, *scores], np.float32)
    choices = np.array(list(product(range(len(options)), repeat=n_parties)))
    federation, ballots = answered(options, choices, LABELS[n_labels], rule=rule)
    assert np.isnan(ballots[:, :, 0]).sum() == (choices == 0).sum()
    proof = federation.vote.certify(ballots)
    assert (proof.radius[~(choices == 0).any(axis=1)] > 0).any()
    assert (proof.radius[(choices == 0).any(axis=1)] > 0).any()

    def holds(rows, attacked):
        return proof.prediction[rows] == proof.prediction[attacked]

    check(holds, proof.radius, choices, len(options))


@pytest.mark.parametrize("n_parties", [4, 5])
@pytest.mark.parametrize("rule", [Median(), Median(stretch=1.5, centre=1.0)], ids=repr)
def test_values_against_every_party(rule, n_parties):
    options = np.array([np.nan, 0.0, 1.0, 2.0, 9.0])
    choices = np.array(list(product(range(len(options)), repeat=n_parties)))
    federation, ballots = answered(options, choices, None, rule=rule, default=1.0)
    proof = federation.vote.certify(ballots, 1.0)
    assert (proof.radius > 0).any()

    def holds(rows, attacked):
        return np.abs(proof.prediction[rows] - proof.prediction[attacked]) <= 1.0

    check(holds, proof.radius, choices, len(options))
    for r, (low, high) in federation.vote.intervals(ballots).items():

        def inside(rows, attacked, low=low, high=high):
            value = proof.prediction[attacked]
            return (value >= low[rows]) & (value <= high[rows])

        known = np.where(np.isfinite(low) | np.isfinite(high), r, 0)
        check(inside, known, choices, len(options))


@pytest.mark.parametrize("identities", [(0, 0, 2, 3, 4), (0, 1, 2, 0, 1)])
@pytest.mark.parametrize(
    "rule",
    [Plurality(), RunOff(), RunOff(exact=True), Tournament(margin=1.5), Median()],
    ids=repr,
)
def test_a_party_that_is_listed_twice_counts_once(rule, identities):
    of_values = isinstance(rule, Median)
    options = np.array([np.nan, 0.0, 1.0, 5.0] if of_values else [[np.nan] * 2, [0, -9], [-9, 0]])
    options = options if of_values else options.astype(np.float32)
    choices = np.array(list(product(range(len(options)), repeat=5)))
    classes = None if of_values else ["a", "b"]
    federation, ballots = answered(options, choices, classes, rule=rule)
    tolerance = 1.0 if of_values else None
    proof = federation.vote.certify(ballots, tolerance, identities=identities)
    apart = federation.vote.certify(ballots, tolerance)
    assert proof.counts.total == len(set(identities))
    assert (proof.prediction == apart.prediction).all()
    assert (proof.radius > 0).any()
    assert (proof.radius < apart.radius).any()

    def holds(rows, attacked):
        if of_values:
            return np.abs(proof.prediction[rows] - proof.prediction[attacked]) <= 1.0
        return proof.prediction[rows] == proof.prediction[attacked]

    check(holds, proof.radius, choices, len(options), identities)
    critical = federation.vote.critical(ballots, tolerance, identities=identities)
    for j, k in combinations(range(5), 2):
        assert identities[j] != identities[k] or (critical[j] == critical[k]).all()
    for r, (low, high) in federation.vote.intervals(ballots, identities).items():

        def inside(rows, attacked, low=low, high=high):
            value = proof.prediction[attacked]
            return (value >= low[rows]) & (value <= high[rows])

        known = np.where(np.isfinite(low) | np.isfinite(high), r, 0)
        check(inside, known, choices, len(options), identities)


@pytest.mark.parametrize("garbage", MALFORMED)
def test_a_malformed_answer_is_exactly_silence(garbage):
    """Not a vote of any kind: the certificate is that of a party that does not answer."""
    parties = [Party(f"{k}", f"http://127.0.0.1:{k + 1}") for k in range(4)]
    federation = Federation(parties, classes=["a", "b"], rule="plurality")
    ballot = np.array([[0.0, -1.0]], np.float32)
    honest = [Reply(answer_bytes(["a", "b"], ballot, f"{k:064x}"), "", 0.0) for k in range(4)]
    quiet = Reply(None, "no answer", 1.0)
    for k in range(4):
        proofs = []
        for bad in (Reply(garbage, "", 0.0), quiet):
            replies = [bad if k == j else honest[j] for j in range(4)]
            proofs.append(federation.vote.certify(federation._understood(replies, 1).ballots))
        assert proofs[0].silence.units.tolist() == [[j == k for j in range(4)]]
        assert proofs[0].radius.tolist() == proofs[1].radius.tolist() == [1]
