"""What was judged is read back as it was; another candidate's results are not."""

from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, LeaveOutClassifier
from partita.selection._candidates import candidates
from partita.selection._choice import Evaluation
from partita.selection._choose_parts import ResultCache


def test_results_go_and_come_back(tmp_path):
    pair = FeaturePartitionClassifier(GaussianNB()), LeaveOutClassifier(GaussianNB())
    first, second = list(candidates(*pair, 10, 1, labels=True))[:2]
    judged = [
        Evaluation(first.method, first.options | variant.options, 0.9, 0.8, 0.7, 0.6, 1.5, None)
        for variant in first.variants
    ]
    parts = ResultCache(tmp_path, "0123456789abcdef")
    assert parts.read(1, first) is None
    parts.write(1, first, judged)
    again = parts.read(1, first)
    assert [one.as_dict() for one in again] == [one.as_dict() for one in judged]
    assert [one.estimator.gate for one in again] == [1] * len(again)
    assert again[-1].estimator.fallback is not None
    assert parts.read(1, second) is None
    assert ResultCache(tmp_path, "another key").read(1, first) is None
