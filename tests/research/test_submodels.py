"""The estimators of a run."""

import numpy as np

from partita.baselines._ablation import ablate
from partita.vision import MaskedImageClassifier, PixelSetClassifier
from research.sizes import FEW_SUBMODELS
from research.submodels import ablated_linear, network


def test_the_linear_model_needs_no_ablated_rows():
    rng = np.random.default_rng(0)
    scaled, masks = rng.random((6, 5)).astype(np.float32), rng.random((4, 5)) < 0.5
    model = ablated_linear().partial_fit(rng.random((50, 10)), rng.random(50))
    slow = model.predict(ablate(scaled[:, None], masks).reshape(-1, 10)).reshape(6, 4)
    assert np.allclose(model.predict_ablated(scaled, masks), slow, atol=1e-5)


def test_few_submodels_are_the_paper_s_networks(tmp_path):
    few = network({"network": "resnet9"}, (8, 8, 1), FEW_SUBMODELS, tmp_path / "run")
    many = network({"width": 8}, (8, 8, 1), FEW_SUBMODELS + 1, tmp_path / "run")
    assert isinstance(few, MaskedImageClassifier)
    assert isinstance(many, PixelSetClassifier)
    assert few.checkpoint == tmp_path / "run"  # a folder
    assert many.checkpoint == tmp_path / "run.pt"  # a file
