"""check_pipeline names the step that lets a column reach several submodels."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder, StandardScaler

from partita import FeaturePartitionClassifier, InputError, SoundnessError, SoundnessWarning
from partita.attacks import check_pipeline

X, Y = load_wine(return_X_y=True)
FRAME = pd.DataFrame(X, columns=[f"c{k}" for k in range(13)])
ENSEMBLE = FeaturePartitionClassifier(GaussianNB())


@pytest.mark.parametrize(
    ("step", "finding"),
    [
        (StandardScaler(), None),  # works column by column
        (FunctionTransformer(np.log1p), None),
        (PCA(13), "step 'pca' lets column 'c0' reach several submodels"),
        (Normalizer(), "step 'normalizer' lets column 'c0' reach several submodels"),
        (
            FunctionTransformer(lambda table: table - table.to_numpy().mean()),
            "step 'functiontransformer' lets column",
        ),
        (
            FunctionTransformer(lambda table: table.dropna()),
            "step 'functiontransformer' drops rows because of a value in column 'c0'",
        ),
        (SelectKBest(k=5), "step 'selectkbest' lets column"),
        (
            OneHotEncoder(sparse_output=False, max_categories=4),
            "step 'onehotencoder' makes several columns of 'c0'",
        ),
    ],
)
def test_check_pipeline_names_the_step(step, finding):
    pipeline = make_pipeline(step, ENSEMBLE)
    if finding is None:
        assert check_pipeline(pipeline, FRAME, Y) == []
        return
    with pytest.warns(SoundnessWarning) as raised:
        found = check_pipeline(pipeline, FRAME, Y)
    assert any(message.startswith(finding) for message in found), found
    assert len(raised) == len(found)
    with pytest.raises(SoundnessError):
        check_pipeline(pipeline, FRAME, Y, strict=True)


def test_check_pipeline_names_the_right_one_of_several():
    with pytest.warns(SoundnessWarning) as raised:
        check_pipeline(make_pipeline(StandardScaler(), PCA(10), StandardScaler(), ENSEMBLE), X, Y)
    assert [str(one.message)[:10] for one in raised] == ["step 'pca'"]


def test_only_pipelines_of_ensembles_on_dense_tables_are_checked():
    for wrong in (GaussianNB(), make_pipeline(StandardScaler(), GaussianNB())):
        with pytest.raises(InputError, match="pipeline must be a scikit-learn Pipeline"):
            check_pipeline(wrong, X, Y)
    assert check_pipeline(make_pipeline(ENSEMBLE), X, Y) == []
    pipeline = make_pipeline(StandardScaler(), ENSEMBLE)
    with pytest.raises(InputError, match="X is sparse"):
        check_pipeline(pipeline, scipy.sparse.csr_matrix(X), Y)
    with pytest.raises(InputError, match="pipeline fails on X as it is"):
        check_pipeline(pipeline, np.full(X.shape, "text"), Y)
