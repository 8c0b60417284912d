"""The configuration of networks over cells refuses what cannot be built or trained."""

import inspect
from dataclasses import replace

import pytest

from partita import InputError
from partita.vision import CellImageClassifier
from partita.vision._cell_sets import CellConfig


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 0}, "width is 0: it must be a whole number, 1 or above"),
        ({"blocks": 1.5}, "blocks is 1.5"),
        ({"members": True}, "members is True"),
        ({"batch_size": 1}, "batch_size is 1: it must be a whole number, 2 or above"),
        ({"cell": 9}, "cell is 9, but an image's shorter side has 8 pixels: lower cell"),
        ({"shift": 8}, "shift is 8, but an image's shorter side has 8 pixels: lower shift"),
        ({"erase": 8}, "erase is 8, but an image's shorter side has 8 pixels: lower erase"),
        ({"erase": -1}, "erase is -1"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"label_smoothing": 1.0}, "label_smoothing is 1.0"),
        ({"average": 1}, "average is 1: it must be a number, at least 0 and below 1"),
        ({"views": 2}, "views is 2: give 1, 5 or 9"),
        ({"views": 5, "shift": 0}, "only 1 with shift=0"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        replace(CellConfig(), **settings).check((8, 9, 1))


@pytest.mark.parametrize("shape", [(8, 8), (8, 0, 1), (8, 8.5, 1)])
def test_bad_image_shapes_are_named(shape):
    with pytest.raises(InputError, match="image_shape"):
        CellConfig().check(shape)


def test_the_estimator_has_every_setting_with_the_same_default():
    parameters = inspect.signature(CellImageClassifier).parameters
    CellConfig().check((32, 32, 3))
    assert {name: parameters[name].default for name in CellConfig.names()} == (
        CellConfig().as_dict()
    )
