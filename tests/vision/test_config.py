"""The configuration of pixel-set networks refuses what cannot be built or trained."""

import inspect
from dataclasses import replace

import pytest

from partita import InputError
from partita.vision import PixelSetClassifier
from partita.vision._pixel_sets import PixelSetConfig


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 0}, "width is 0: it must be a whole number, 1 or above"),
        ({"width": 10, "heads": 4}, "not a multiple of heads=4"),
        ({"members": True}, "members is True"),
        ({"epochs": 1.5}, "epochs is 1.5"),
        ({"token_drop": 1.0}, "token_drop is 1.0: it must be a number, at least 0 and below 1"),
        ({"label_smoothing": -0.1}, "label_smoothing is -0.1"),
        ({"average": 1.0}, "average is 1.0: it must be a number, at least 0 and below 1"),
        ({"learning_rate": -1.0}, "learning_rate is -1.0: it must be a number, at least 0$"),
        ({"weight_decay": float("nan")}, "weight_decay is nan"),
        ({"shift": -1}, "shift is -1"),
        ({"views": 2}, "views is 2: give 1, 5 or 9"),
        ({"views": 5, "shift": 0}, "only 1 with shift=0"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        replace(PixelSetConfig(), **settings).check()


def test_the_estimator_has_every_setting_with_the_same_default():
    parameters = inspect.signature(PixelSetClassifier).parameters
    PixelSetConfig().check()
    assert {name: parameters[name].default for name in PixelSetConfig.names()} == (
        PixelSetConfig().as_dict()
    )
