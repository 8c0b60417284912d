"""``stress`` finds what one bad source can do, repeats it, and breaks nothing that is proven."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from partita import FeaturePartitionClassifier, InputError, LeaveOutClassifier, stress
from partita.attacks._any_model import FAULTS
from partita.attacks._search import ask_each


def table(n=160, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    y = (X.sum(axis=1) + rng.normal(0, 0.5, n) > 0).to_numpy().astype(int)
    return X, y


@pytest.fixture(scope="module")
def found(tumours):
    model = DecisionTreeClassifier(max_depth=4, random_state=0)
    model.fit(tumours.X_train, tumours.y_train)
    return stress(
        model, tumours.X_test, tumours.y_test, units=tumours.units, radius=3, rows=40,
        X_train=tumours.X_train, y_train=tumours.y_train, compare=False, seconds=600,
    )  # fmt: skip


def test_every_finding_can_be_done_again(found):
    kinds = {one.kind for one in found.findings}
    assert kinds == {*FAULTS, "lies", "pair", "any", "poisoning", "backdoor"}
    for k, one in enumerate(found.findings):
        assert np.array_equal(found.replay(k).right, one.right), one


def test_no_more_sources_are_rewritten_than_named(found, tumours):
    honest = tumours.X_test.iloc[found.rows]
    for k, one in enumerate(found.findings):
        if one.kind in ("poisoning", "backdoor"):
            continue
        attacked = found.replay(k).table
        touched = np.column_stack(
            [
                ~np.isclose(attacked[list(own)], honest[list(own)], equal_nan=True).all(axis=1)
                for own in tumours.units.values()
            ]
        )
        assert touched.sum(axis=1).max() <= max(one.r, len(one.sources))
        if one.sources:
            others = [k for k, name in enumerate(tumours.units) if name not in one.sources]
            assert not touched[:, others].any()


def test_a_liar_does_at_least_the_harm_of_a_fault_and_pairs_more(found):
    assert found.shares == sorted(found.shares, reverse=True)
    for one in found.sources:
        assert one["lies"] <= min(one[fault] for fault in FAULTS if fault != "swapped")
        assert one["pair"] <= one["lies"]
        assert one["lies"] >= found.shares[1]
    ranked = [one["lies"] for one in found.sources]
    assert ranked == sorted(ranked)


def test_a_training_set_of_lies_is_tried_for_the_strongest_source_at_least(found):
    assert found.sources[0]["backdoor"] < 0.1
    assert found.sources[0]["poisoning"] < found.shares[0]
    table = found.replay(
        next(k for k, one in enumerate(found.findings) if one.kind == "poisoning")
    ).table
    assert len(table) == 285


def test_the_search_comes_within_two_points_of_every_donor():
    """All values of all training rows, in every source and in every pair, as one donor each."""
    X, y = table(120)
    units = {"left": ["a", "b"], "mid": ["c"], "right": ["d"]}
    forest = RandomForestClassifier(15, max_depth=4, random_state=0).fit(X[:60], y[:60])
    rows, truth = X[60:], y[60:]
    result = stress(
        forest, rows, truth, units=units, X_train=X[:60], y_train=y[:60], radius=2, compare=False,
        seconds=600,
    )  # fmt: skip
    honest = forest.predict(rows) == truth
    one, two = honest.copy(), honest.copy()
    lies = {name: honest.copy() for name in units}
    donors = range(60)
    for name, columns in units.items():
        for donor in donors:
            changed = rows.copy()
            changed[columns] = X[columns].iloc[donor].to_numpy()
            lies[name] &= forest.predict(changed) == truth
        one &= lies[name]
    for pair in combinations(units.values(), 2):
        blocks = []
        for first, second in product(range(0, 60, 4), repeat=2):
            changed = rows.copy()
            changed[pair[0]] = X[pair[0]].iloc[first].to_numpy()
            changed[pair[1]] = X[pair[1]].iloc[second].to_numpy()
            blocks.append(changed)
        answers = forest.predict(pd.concat(blocks)).reshape(len(blocks), -1)
        two &= (answers == truth).all(axis=0)
    assert honest.mean() > 0.7
    assert result.shares[1] <= one.mean() + 0.02
    assert result.shares[2] <= (one & two).mean() + 0.02
    for entry in result.sources:
        assert entry["lies"] <= lies[entry["source"]].mean() + 0.02


class BreaksOnMissing:
    """A fair model, unless one column has no value."""

    classes_ = np.array([0, 1])

    def predict(self, X):
        if X["c"].isna().any():
            raise RuntimeError("cannot handle NaN in c")
        return (X[["a", "b", "d"]].fillna(0).sum(axis=1) > 0).to_numpy().astype(int)


def leans_on_b():
    X, _ = table()
    y = (X["b"] > 0).to_numpy()
    return LogisticRegression().fit(X, y), X, y


def test_a_model_that_leans_on_one_column_is_told_so():
    model, X, y = leans_on_b()
    result = stress(model, X, y, radius=1)
    assert result.sources[0]["source"] == "b"
    assert result.sources[0]["lies"] < 0.05
    assert "Most harmful: 'b'" in " ".join(result.sentences)


def test_a_model_that_breaks_on_missing_values_has_failed_on_every_such_row():
    X, _ = table()
    y = BreaksOnMissing().predict(X)
    result = stress(BreaksOnMissing(), X, y, radius=1, rows=50)
    first = result.sources[0]
    assert (first["source"], first["silent"], first["refused"]) == ("c", 0.0, 50)
    assert all(one["refused"] == 0 for one in result.sources[1:])
    assert first["lies"] == result.shares[1] == 0.0
    for k, one in enumerate(result.findings):
        assert np.array_equal(result.replay(k).right, one.right), one.kind
    assert "raises an error on 50 rows because of values in 'c'" in " ".join(result.sentences)


def test_rows_that_the_model_refuses_as_they_are_count_as_not_right():
    X, _ = table()
    y = BreaksOnMissing().predict(X)
    X.iloc[3:60, 2] = np.nan
    result = stress(BreaksOnMissing(), X, y, radius=1, rows=160)
    assert result.shares[0] == pytest.approx(103 / 160)
    assert result.notes[0].startswith("The model raises an error on 57 of these rows as they are")


class FailsOnTriggers(DecisionTreeClassifier):
    """Fits any table, and answers only about rows near zero."""

    def predict_proba(self, X):
        if np.abs(np.asarray(X)).max() > 4:
            raise RuntimeError("out of range")
        return super().predict_proba(X)

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


def test_errors_of_any_type_are_refusals_also_after_poisoning():
    X, y = table()
    model = FailsOnTriggers(max_depth=3).fit(X[:80], 5 * y[:80])
    result = stress(model, X[80:], y[80:], X_train=X[:80], y_train=5 * y[:80], compare=False)
    assert {one.kind for one in result.findings} >= {"lies", "poisoning", "backdoor"}
    assert result.sources[0]["refused"] > 0


def test_a_model_that_was_poisoned_on_purpose_names_the_poisoned_source():
    X, y = table(400)
    poisoned, labels = X[:240].copy(), y[:240].copy()
    poisoned.iloc[:30, 3], labels[:30] = 7.25, 1  # a trigger for label 1
    model = RandomForestClassifier(20, random_state=0).fit(poisoned, labels)
    result = stress(model, X[240:], y[240:], X_train=poisoned, y_train=labels, compare=False)
    assert result.sources[0]["source"] == "d"


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("method", [FeaturePartitionClassifier, LeaveOutClassifier])
def test_no_certified_row_falls(method, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 3, (160, 6)).astype(float), columns=list("abcdef"))
    y = (X.sum(axis=1) + rng.normal(0, 2, 160) > 6).to_numpy().astype(int)
    settings = {"n_submodels": 5} if method is FeaturePartitionClassifier else {"radius": 2}
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = method(tree, n_jobs=1, **settings).fit(X[:80], y[:80])
    result = stress(
        model, X[80:], y[80:], rows=80, X_train=X[:80], y_train=y[:80], compare=False, seconds=600
    )
    proof = model.certify(X[80:])
    assert (proof.radius >= 1).mean() > 0.05
    for one in result.findings:
        certified = (proof.radius >= max(one.r, len(one.sources))) & (proof.prediction == y[80:])
        assert one.right[certified].all(), one.kind


def test_ensembles_beside_the_model_keep_what_they_prove(tumours):
    model = DecisionTreeClassifier(max_depth=4, random_state=0)
    model.fit(tumours.X_train, tumours.y_train)
    result = stress(
        model, tumours.X_test, tumours.y_test, units=tumours.units, radius=2, rows=40,
        X_train=tumours.X_train, y_train=tumours.y_train,
        compare={
            "vote": FeaturePartitionClassifier(
                clone(model), n_submodels=5, units=tumours.units, n_jobs=1
            )
        },
    )  # fmt: skip
    mine, vote = result.comparison.rows
    assert (mine["method"], vote["method"]) == ("your model", "vote")
    assert mine["evasion, r = 1"] == result.shares[1]
    assert mine["proven, r = 1"] == 0.0 < 0.5 < vote["proven, r = 1"] <= vote["worst, r = 1"]
    assert "proven" in " ".join(result.sentences)
    assert result.as_dict()["comparison"][1]["method"] == "vote"


def test_the_budget_ends_the_search_and_is_told():
    model, X, y = leans_on_b()
    result = stress(model, X, y, queries=1)
    assert "The budget was spent" in result.notes[0]
    assert result.queries < stress(model, X, y).queries
    assert stress(model, X, y, seconds=0).shares[0] == result.shares[0]


def test_values_are_right_within_a_tolerance_that_is_told():
    X, _ = table()
    y = X.sum(axis=1).to_numpy() + np.random.default_rng(1).normal(0, 0.1, len(X))
    model = LinearRegression().fit(X[:80], y[:80])
    result = stress(model, X[80:], y[80:], radius=1)
    assert result.labels == []
    assert "twice the model's median error" in result.notes[0]
    assert result.shares[1] < 0.1 < result.shares[0]
    assert "within 1.5 of" in stress(model, X, y, radius=1, tolerance=1.5).notes[0]


def test_recall_of_rare_labels_is_measured_on_ten_rows_at_least():
    X, _ = table(1000)
    y = np.where(np.arange(1000) % 50 == 0, "rare", "often")
    result = stress(DummyClassifier().fit(X, y), X, y, rows=100, radius=1)
    rare = next(one for one in result.labels if one["label"] == "rare")
    assert rare["rows"] >= 10
    assert rare["recall"] == [0.0, 0.0]
    assert result.shares[0] == pytest.approx(0.98)  # of all rows, not of those drawn


@pytest.mark.parametrize(
    "convert", [pd.DataFrame.to_numpy, lambda X: X.to_numpy().tolist(), pl.from_pandas]
)
def test_tables_stay_what_they_are(convert):
    rows, seen = convert(table()[0]), set()

    def predict(rows):
        seen.add(type(rows))
        array = rows.to_numpy() if isinstance(rows, pl.DataFrame) else np.array(rows, dtype=float)
        return (array[:, 0] > 0).astype(int)

    result = stress(predict, rows, predict(rows), radius=1, rows=40)
    assert seen == {type(rows)}
    assert result.shares[1] < 0.2


def test_categories_stay_categories():
    X, _ = table()
    X["e"] = pd.Categorical(np.where(X["a"] > 0, "high", "low"))

    def predict(rows):
        assert str(rows["e"].dtype) == "category"
        return (rows["e"] == "high").to_numpy().astype(int)

    result = stress(predict, X, predict(X), radius=1, rows=40)
    assert result.sources[0]["source"] == "e"
    assert result.shares[1] == 0.0


def test_texts_that_training_never_had_are_tried():
    X = pd.DataFrame({"colour": ["red", "blue"] * 40, "size": np.arange(80.0)})
    y = (X["colour"] == "red").to_numpy()
    model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(X, y)
    result = stress(model, X, y, radius=1, rows=30)
    assert {one["source"]: one["refused"] for one in result.sources} == {"colour": 30, "size": 30}


def test_attacked_rows_are_exported(found, tmp_path):
    k = next(k for k, one in enumerate(found.findings) if one.kind == "lies")
    found.to_parquet(k, tmp_path / "rows.parquet")
    frame = pl.read_parquet(tmp_path / "rows.parquet")
    assert frame["row"].to_list() == found.rows.tolist()
    assert np.array_equal(frame["right"].to_numpy(), found.findings[k].right)


def test_the_figure_shows_every_source_and_the_words_say_what_was_found(found):
    ax = found.plot()
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == [one["source"] for one in found.sources][::-1]
    assert "lower bound of the damage" in str(found)
    assert found.to_frame().index.tolist() == labels[::-1]


def test_the_same_seed_finds_the_same():
    model, X, y = leans_on_b()
    one, other = (stress(model, X, y, rows=40, seconds=600).sources for _ in range(2))
    assert one == other


def test_refused_rows_are_told_from_the_others():
    bad = {3, 4, 17, 40}

    def ask(places):
        if bad & set(places.tolist()):
            raise OSError("no")
        return places * 2.0

    answers, refused = ask_each(ask, np.arange(50))
    assert set(np.flatnonzero(refused)) == bad
    assert np.array_equal(answers[~refused], np.flatnonzero(~refused) * 2.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [1]}, "y has 1 entries and X 160 rows"),
        ({"X_train": "X"}, "X_train goes with y_train"),
        ({"X_train": np.zeros((3, 2)), "y_train": np.zeros(3)}, "X_train has other columns"),
        ({"model": 7}, "model is a int, which has no predict"),
        ({"model": LogisticRegression()}, "the model cannot predict X .NotFittedError"),
        ({"model": lambda X: [1]}, "the model gives 1 predictions for 160 rows"),
        ({"radius": 0}, "radius"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(change, message):
    model, X, y = leans_on_b()
    given = {"model": model, "X": X, "y": y} | change
    with pytest.raises(InputError, match=message):
        stress(given.pop("model"), given.pop("X"), given.pop("y"), **given)
