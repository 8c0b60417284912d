"""Tables to sweep, and settings as a sweep stores them."""

ONE_RULE = {"rules": ("tournament",), "margins": (0.5,), "priors": (0.9,)}
NAIVE = "sklearn.naive_bayes:GaussianNB"  # the quickest
CONSTANT = {"answer": "no", "accuracy": 0.8, "balanced": 0.5}


def setting(submodels, curve, balanced=None, **more):
    """What a sweep keeps of a setting."""
    options = {"rule": "tournament", "margin": 0.5, "prior": 0.9}
    return {
        "submodels": submodels,
        "options": options,
        "curve": curve,
        "balanced": balanced,
        "nearly_constant": False,
        **more,
    }
