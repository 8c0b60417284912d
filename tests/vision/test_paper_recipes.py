"""How the paper trains its networks, and which settings are refused."""

import pytest

from partita import InputError
from partita.vision._paper_networks import PAPER, recipe_for


def test_the_paper_s_settings_unless_others_are_given():
    assert recipe_for("resnet9", (32, 32, 3), epochs=None) == PAPER["resnet9"]
    recipe = recipe_for("network_in_network", (28, 28, 1), epochs=3, learning_rate=None, flip=True)
    assert (recipe.epochs, recipe.learning_rate, recipe.flip) == (3, 3.16e-4, True)
    assert recipe.batch_size == 128


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": 0}, "epochs is 0: it must be a whole number, 1 or above"),
        ({"batch_size": 1}, "batch_size is 1: it must be a whole number, 2 or above"),
        ({"shift": 16}, "shift is 16, but an image's shorter side has 16 pixels: lower shift"),
        ({"erase": -1}, "erase is -1"),
        ({"learning_rate": -1.0}, "learning_rate is -1.0: it must be a number, at least 0$"),
        ({"label_smoothing": 1}, "label_smoothing is 1: it must be a number, at least 0 and below"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        recipe_for("resnet9", (16, 20, 1), **settings)


def test_bad_networks_and_shapes_are_named():
    with pytest.raises(InputError, match="network is 'resnet10': give one of 'resnet9', 'network"):
        recipe_for("resnet10", (8, 8, 1))
    message = r"image_shape is \(8, 8\): give \(height, width, channels\)"
    with pytest.raises(InputError, match=message):
        recipe_for("resnet9", (8, 8))
