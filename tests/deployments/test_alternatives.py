"""The models that are compared: one learner inside, and every one of them works."""

import numpy as np
import pytest
from sklearn.base import clone

from partita.deployments._alternatives import PLAIN, alternatives
from partita.ensemble import TableBoostingClassifier, TableBoostingRegressor


def test_the_plain_model_comes_first_and_partita_last(cancer):
    names = list(alternatives(cancer))
    assert names[0] == PLAIN
    assert [name for name in names if name.startswith("partita")] == names[-2:]
    assert isinstance(alternatives(cancer)[PLAIN], TableBoostingClassifier)


@pytest.mark.parametrize(
    ("data", "learner"),
    [
        ("cancer", TableBoostingClassifier(max_iter=10)),
        ("diabetes", TableBoostingRegressor(max_iter=20)),
    ],
)
def test_all_of_them_learn_around_the_given_learner(data, learner, request):
    deployment = request.getfixturevalue(data)
    for name, model in alternatives(deployment, learner).items():
        fitted = clone(model).fit(deployment.X_train, deployment.y_train)
        prediction = fitted.predict(deployment.X_test)
        if deployment.tolerance is None:
            assert (prediction == deployment.y_test).mean() > 0.8, name
        else:
            errors = np.abs(
                np.stack([prediction, np.full_like(prediction, 140)]) - deployment.y_test
            )
            assert errors[0].mean() < errors[1].mean(), name  # 140: the median
        inside = model if name == PLAIN else model.estimator
        assert inside is learner, name
