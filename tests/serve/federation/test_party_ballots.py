"""A party's own rows: found by key, scored by its own submodel, as one process would."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    LeaveOutClassifier,
)
from partita.serve.federation._apps import PartyBallots, find_submodel
from partita.workflow._stored_model import StoredModel

from ..client import DIABETES, PROGRESSION

KEYS = [f"{i:03}" for i in range(len(DIABETES))]
UNITS = {"blood": ["s1", "s2", "s3", "s4", "s5", "s6"], "body": ["bmi", "bp", "age", "sex"]}


@pytest.fixture(scope="module")
def model():
    y = np.where(PROGRESSION > 140, 1, 0)
    return FeaturePartitionClassifier(GaussianNB(), n_submodels=2, units=UNITS).fit(DIABETES, y)


def table_of(model, t, folder, **more):
    own = DIABETES.iloc[:, model.columns_of(t)].assign(**{"id": KEYS} | more)
    path = folder / "own.csv"
    own.iloc[::-1].to_csv(path, index=False)
    return path


def ballots_of(model, folder, submodel, t=0, key="id", **more):
    return PartyBallots.of(
        StoredModel(model, {}, folder), table_of(model, t, folder, **more), key, submodel
    )


@pytest.mark.parametrize("t", [0, 1])
def test_ballots_are_those_of_the_ensemble(model, tmp_path, t):
    own = ballots_of(model, tmp_path, t, t)
    told = json.loads(own.answer([*KEYS, "999"]))
    assert told["classes"] == [0, 1]
    assert told["ballots"] == [*model.ballots(DIABETES)[:, t].tolist(), None]


def test_values_and_a_model_of_one_submodel(tmp_path):
    model = FeaturePartitionRegressor(Ridge(), n_submodels=1, units={"all": list(DIABETES)}).fit(
        DIABETES, PROGRESSION
    )
    told = json.loads(ballots_of(model, tmp_path, None).answer(["000", "x", "005"]))
    expected = model.ballots(DIABETES)[:, 0].tolist()
    assert (told["classes"], told["ballots"]) == (None, [expected[0], None, expected[5]])


def test_a_parquet_table_with_numbers_as_keys_and_other_columns(model, tmp_path):
    path = tmp_path / "own.parquet"
    own = DIABETES.iloc[:, model.columns_of(0)].assign(id=range(len(DIABETES)), note="private")
    own.to_parquet(path)
    found = PartyBallots.of(StoredModel(model, {}, path), path, "id", 0)
    told = json.loads(found.answer(["7"]))
    assert told["ballots"] == [model.ballots(DIABETES)[7, 0].tolist()]


def test_a_submodel_is_found_by_a_unit_or_its_number(model):
    blood = next(t for t in range(2) if model.units_.names.index("blood") in model.partition_[t])
    assert find_submodel(model, "blood") == blood
    assert find_submodel(model, "1") == find_submodel(model, 1) == 1
    for wrong in ("2", -1, "liver", "1.0"):
        with pytest.raises(InputError, match="give a number from 0 to 1, or one of the"):
            find_submodel(model, wrong)
    with pytest.raises(InputError, match="submodel is missing, and the model has 2"):
        find_submodel(model, None)


def test_submodels_that_share_columns_are_nobodys_alone():
    y = np.where(PROGRESSION > 140, 1, 0)
    overlapping = FeaturePartitionClassifier(GaussianNB(), n_submodels=5, spread=2)
    for shared in (overlapping, LeaveOutClassifier(GaussianNB(), n_groups=4)):
        with pytest.raises(InputError, match="none is one party's alone"):
            find_submodel(shared.fit(DIABETES, y), 0)


def test_rows_without_a_key_of_their_own_are_refused(model, tmp_path):
    twice = ["000", "000", *KEYS[2:]]
    with pytest.raises(InputError, match=r"rows \d+ and \d+ of .* have the same key '000'"):
        ballots_of(model, tmp_path, 0, id=twice)
    with pytest.raises(InputError, match="as its key: a key must be a text or a whole number"):
        ballots_of(model, tmp_path, 0, id=[None, *KEYS[1:]])
    path = tmp_path / "own.parquet"
    pd.DataFrame(DIABETES).assign(id=np.arange(len(DIABETES)) / 2).to_parquet(path)
    with pytest.raises(InputError, match="as its key"):
        PartyBallots.of(StoredModel(model, {}, path), path, "id", 0)


def test_columns_that_are_missing_are_named(model, tmp_path):
    with pytest.raises(InputError, match="key names the column 'patient'"):
        ballots_of(model, tmp_path, 0, key="patient")
    column = list(DIABETES)[model.columns_of(0)[0]]
    with pytest.raises(InputError, match="which the submodel learns from"):
        ballots_of(model, tmp_path, 0, key=column)
    with pytest.raises(InputError, match="the submodel names the column"):
        ballots_of(model, tmp_path, 1, t=0)
