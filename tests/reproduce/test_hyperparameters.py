"""The hyperparameters are those of the paper."""

import pytest

from partita.reproduce._hyperparameters import (
    FEW_SUBMODELS,
    NETWORKS,
    ablation_settings,
    submodel_settings,
)
from partita.vision import PixelSetClassifier


def test_few_submodels_get_the_paper_s_networks():
    assert submodel_settings("cifar10", "network", FEW_SUBMODELS) == {"network": "resnet9"}
    assert submodel_settings("cifar10", "network", FEW_SUBMODELS + 1) == NETWORKS["cifar10"]
    assert ablation_settings("mnist", "network")["network"] == "network_in_network"


@pytest.mark.parametrize("settings", NETWORKS.values(), ids=NETWORKS)
def test_networks_are_settings_of_pixel_sets(settings):
    PixelSetClassifier((28, 28, 1)).set_params(**settings)


def test_raw_columns_have_the_settings_of_their_table():
    for kind in ("lightgbm", "linear"):
        assert submodel_settings("ames_raw", kind, 21) == submodel_settings("ames", kind, 21)
    assert submodel_settings("ames", "lightgbm", 21)["objective"] == "mae"
