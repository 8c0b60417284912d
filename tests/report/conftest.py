"""A browser, and reports to look at."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    LeaveOutClassifier,
    LeaveOutRegressor,
    store,
)
from partita.report import gather, render
from partita.rules import Plurality
from partita.workflow import CertifiedTable
from partita.workflow._training_table import open_training
from tests.browser import open_browser

from .pages import quality_of


@pytest.fixture(scope="package")
def browser():
    """One for these tests only: playwright's event loop would be in the way of other tests' own."""
    with open_browser() as opened:
        yield opened


@pytest.fixture
def visit(browser, tmp_path):
    """Open a report; afterwards there must be no error in its console and no request but for the
    file itself."""
    problems, pages = [], []

    def go(text, **options):
        (tmp_path / "report.html").write_text(text, encoding="utf-8")
        page = browser.new_page(**options)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "request",
            lambda request: (
                problems.append(request.url) if not request.url.endswith("report.html") else None
            ),
        )
        page.goto(f"file://{tmp_path}/report.html")
        pages.append(page)
        return page

    yield go
    for page in pages:
        page.close()
    assert problems == []


@pytest.fixture(scope="session")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = np.where(y, "benign", "malignant").astype(object)
    clf = FeaturePartitionClassifier(
        GaussianNB(),
        n_submodels=9,
        units={"worst": [name for name in X if name.startswith("worst")]},
    ).fit(X[::2], y[::2])
    certified = CertifiedTable.of(clf, X[1::2], truth=y[1::2])
    quality = quality_of(certified, y[1::2], full_model=0.97)
    facts = gather(
        certified,
        title="Breast cancer",
        origin={"seed": 0},
        files={"a": "b" * 64},
        quality=quality,
    )
    return certified, y[1::2], facts


@pytest.fixture(scope="session")
def page_of_cancer(cancer):
    return render(cancer[2])


@pytest.fixture(scope="session")
def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    return (
        FeaturePartitionRegressor(tree, n_submodels=5).fit(X[::2], y[::2]),
        X[1::2],
        y[1::2].to_numpy(),
    )


@pytest.fixture(scope="session")
def digits():
    X, y = load_digits(return_X_y=True)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=21).fit(X[:900], y[:900])
    return CertifiedTable.of(clf, X[900:1200]), y[900:1200]


def devices(X):
    """The three columns of each measurement are one unit."""
    return [name.replace("mean ", "").replace("worst ", "").replace(" error", "") for name in X]


@pytest.fixture(scope="session")
def left_out():
    """Models that leave units out, on breast cancer by device: radius 1, ten groups of one unit."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = np.where(y, "benign", "malignant").astype(object)
    clf = LeaveOutClassifier(GaussianNB(), units=devices(X)).fit(X[::2], y[::2])
    return clf, X[1::2], y[1::2]


@pytest.fixture(scope="session")
def masked():
    """One model whose training table is trusted, asked with units masked."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    units, trusted = devices(X), ["mean radius"]
    clf = LeaveOutClassifier(
        tree, units=units, trusted=trusted, n_groups=5, training="trusted"
    ).fit(X[::2], y[::2])
    return clf, X[1::2], y[1::2].to_numpy()


@pytest.fixture(scope="session")
def left_out_values():
    """Models of numbers that leave columns out: radius 2, six groups of ten columns."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    reg = LeaveOutRegressor(Ridge(), radius=2, n_groups=6).fit(X[::2], y[::2])
    return reg, X[1::2], y[1::2].to_numpy()


@pytest.fixture(scope="session")
def stored(tmp_path_factory):
    """A stored model, the table it was fitted on, and another."""
    folder = tmp_path_factory.mktemp("stored")
    frame = load_breast_cancer(as_frame=True).frame
    frame[::2].to_csv(folder / "train.csv", index=False)
    frame[1::2].to_csv(folder / "new.csv", index=False)
    training = open_training(folder / "train.csv", "target")
    fitted = training.ensemble("logistic", Plurality(), 5, 0, verbose=0).fit(
        training.table, training.y
    )
    store.save(fitted, folder / "model", training.about("logistic"))
    return folder
