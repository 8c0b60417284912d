"""The public surface, and what importing it costs."""

import subprocess
import sys

import pytest

import partita


def test_the_public_names_are_sorted_and_there():
    assert partita.__all__ == sorted(partita.__all__)
    for name in partita.__all__:
        assert getattr(partita, name).__name__ == name
        assert name in dir(partita)
    with pytest.raises(AttributeError, match="no attribute 'magic'"):
        partita.magic  # noqa: B018


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_is_lazy():
    heavy = "{'numpy', 'scipy', 'sklearn', 'numba', 'narwhals', 'pandas', 'matplotlib', 'joblib'}"
    assert run(f"import sys, partita; print({heavy} & set(sys.modules))") == "set()"


WITHOUT = """
import sys
for name in ("numba", "sklearn", "scipy", "narwhals", "joblib", "pandas", "polars", "matplotlib", "threadpoolctl"):
    sys.modules[name] = None
import numpy as np
from partita import certify
from partita.metrics import certified_accuracy, envelope
from partita.rules import Median, Plurality, RunOff, TopK, Tournament
ballots = np.random.default_rng(0).normal(size=(50, 11, 4)).astype("float32")
radii = [rule.certify(ballots).radius.sum() for rule in (Plurality(), RunOff(exact=True), Tournament(margin=0.5))]
radii.append(TopK(2).certify(ballots, np.zeros(50, int)).radius.sum())
print(radii == radii and certify(ballots).radius.sum(), Median().certify(ballots[:, :, 0], -1, 1).radius.sum())
"""


def test_rules_and_metrics_need_numpy_alone():
    with_everything = run(
        "\n".join(
            line for line in WITHOUT.splitlines() if "sys" not in line and "for name" not in line
        )
    )
    assert run(WITHOUT) == with_everything


@pytest.mark.parametrize(
    ("library", "code", "cure"),
    [
        (
            "pandas",
            "import numpy as np; partita.certify(np.zeros((1, 3, 2))).to_frame()",
            "pip install pandas",
        ),
        (
            "matplotlib",
            "partita.CertifiedAccuracyDisplay([0], [1]).plot()",
            "pip install 'partita[plot]'",
        ),
    ],
)
def test_a_missing_extra_says_how_to_install_it(library, code, cure):
    attempt = f"try:\n    {code}\nexcept partita.MissingExtraError as exc:\n    print(exc)"
    told = run(f"import sys, partita\nsys.modules['{library}'] = None\n{attempt}")
    assert cure in told
