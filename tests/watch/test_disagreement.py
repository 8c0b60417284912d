"""Models that leave units out: none where submodels see a few units each."""

from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, LeaveOutClassifier
from partita.watch._evidence import Disagreement

# tests/report/test_suspects.py and test_evidence.py compare suspects with the obvious loop


def test_only_models_that_leave_units_out_are_asked():
    X, y = load_wine(return_X_y=True)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, y)
    assert Disagreement.of(clf, clf.ballots(X)) is None
    out = LeaveOutClassifier(GaussianNB(), n_groups=5).fit(X, y)
    found = Disagreement.of(out, out.ballots(X))
    assert found.suspect.shape == (len(X), 5)
    assert not (found.suspect & ~found.contested[:, None]).any()
