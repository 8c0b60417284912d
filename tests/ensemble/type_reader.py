"""A classifier that votes by what a frame says of its columns, types and categories included."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class TypeReader(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.total_ = sum_of_types(X)
        return self

    def predict(self, X):
        position = (self.total_ + sum_of_types(X)) % len(self.classes_)
        return self.classes_[np.full(len(X), position)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def sum_of_types(X):
    """Any change of a name, a type, or a category makes another number."""
    shown = [
        (name, repr(X[name].dtype), repr(getattr(X[name].dtype, "categories", None))) for name in X
    ]
    return sum((k + 1) * ord(letter) for k, letter in enumerate(repr(shown)))
