"""Tables and models for the commands' tests."""

from partita.ensemble._base import fit_full_model
from partita.store._save import save
from partita.workflow._training_table import open_training

NAIVE = "sklearn.naive_bayes:GaussianNB"  # the quickest estimator
NINE = "is it a 9?"
UNITS = """
trusted = ["mean area"]
ignore = ["id"]

[units]
worst = ["worst *"]
texture = ["mean texture", "texture error"]
"""


def fit_model(
    data,
    target,
    out,
    submodels,
    units=None,
    rule=None,
    estimator=NAIVE,
    full_model=False,
    **settings,
):
    """What ``partita fit`` stores."""
    training = open_training(data, target, units)
    model = training.ensemble(
        estimator, training.task.rule(rule, **settings), submodels, seed=0, verbose=0
    )
    model.fit(training.table, training.y)
    if full_model:
        model.full_model_ = fit_full_model(model, training.table, training.y)
    return save(model, out, training.about(estimator, model=model))
