"""Tables to sweep, and settings as a search judges them."""

from partita.selection._evaluation import Evaluation

ONE_RULE = {"rules": ("tournament",), "margins": (0.5,), "priors": (0.9,), "offsets": (0,)}
NAIVE = "sklearn.naive_bayes:GaussianNB"  # the quickest
CONSTANT = {"answer": "no", "accuracy": 0.8, "balanced": 0.5}


def setting(submodels, curve, balanced=None, **more):
    """What a search finds of a setting."""
    options = {"submodels": submodels, "margin": 0.5, "prior": 0.9}
    return Evaluation("partition", options, 1, curve, 0.1, None, balanced, **more)


def lines(found):
    """What is recommended at r = 0, 1, ..., as tables have it."""
    return found.as_dict()["by_radius"]


def measured(found):
    """What was found of every setting, but for the seconds that it took."""
    return [one.as_dict() | {"seconds": None} for one in found.settings]
