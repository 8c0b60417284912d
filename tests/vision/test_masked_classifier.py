"""The paper's networks on masked images: what they are, and that each sees its own pixels alone."""

import itertools
import math

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn

from partita import FeaturePartitionClassifier, InputError, StoreError, store
from partita.datasets import load_digits
from partita.ensemble._ballots import FLOOR
from partita.metrics import certified_accuracy
from partita.vision import MaskedImageClassifier
from partita.vision._masked_networks import (
    PAPER,
    _GhostBatchNorm,
    network_in_network,
    recipe_for,
    resnet9,
)
from partita.vision._masked_training import MaskedSubmodel, _share

SHAPE = (8, 8, 1)
SETS = [list(range(t, 64, 3)) for t in range(3)]
FEW = 64
DEVICES = [
    "cpu",
    pytest.param(
        "cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
    ),
]


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    """Images this small are slower on two."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def digits():
    return load_digits()


@pytest.fixture(scope="module")
def few(digits):
    return digits.X_train[:FEW], digits.y_train[:FEW]


def small(network="network_in_network", **settings):
    """An estimator that is done soon, with all that moves images in training."""
    quick = {
        "epochs": 1,
        "batch_size": 32,
        "learning_rate": 0.01,
        "flip": True,
        "shift": 2,
        "erase": 2,
        "device": "cpu",
        "verbose": 0,
    }
    return MaskedImageClassifier(SHAPE, network, **{**quick, **settings})


@pytest.fixture(scope="module")
def honest(few):
    return small().fit_submodels(*few, SETS, [10, 11, 12])


def same(a, b):
    return (
        all(torch.equal(a.weights[name], b.weights[name]) for name in a.weights)
        and a.weights.keys() == b.weights.keys()
    )


# ---- the networks ----


def test_resnet9_is_table_16():
    network = resnet9(3, 10, 32, 32)
    convolutions = [layer for layer in network.modules() if isinstance(layer, nn.Conv2d)]
    sizes = [(layer.in_channels, layer.out_channels) for layer in convolutions]
    assert sizes == [
        (3, 64),
        (64, 128),
        (128, 128),
        (128, 128),
        (128, 256),
        (256, 512),
        (512, 512),
        (512, 512),
    ]
    assert all(layer.kernel_size == (3, 3) and layer.padding == (1, 1) for layer in convolutions)
    # kernels 9 * (3*64 + 64*128 + 2*128*128 + 128*256 + 256*512 + 2*512*512) = 6,563,520; norms 2 *
    # (64 + 3*128 + 256 + 3*512) = 4,480; linear, without bias, 512*10 = 5,120
    assert sum(value.numel() for value in network.parameters()) == 6_563_520 + 4_480 + 5_120
    pools = [layer.kernel_size for layer in network.modules() if isinstance(layer, nn.MaxPool2d)]
    assert pools == [2, 2, 2, (4, 4)]
    assert network(torch.zeros(2, 3, 32, 32)).shape == (2, 10)
    assert resnet9(1, 4, 9, 17)(torch.zeros(2, 1, 9, 17)).shape == (2, 4)


def test_network_in_network_is_table_17():
    network = network_in_network(1, 10, 28, 28)
    convolutions = [layer for layer in network.modules() if isinstance(layer, nn.Conv2d)]
    assert [layer.kernel_size[0] for layer in convolutions] == [5, 1, 1, 5, 1, 1, 3, 1, 1]
    assert [layer.out_channels for layer in convolutions] == [
        192,
        160,
        96,
        192,
        192,
        192,
        192,
        192,
        192,
    ]
    # kernels 25*192 + 192*160 + 160*96 + 25*96*192 + 2*192*192 + 9*192*192 + 2*192*192 = 990,912;
    # norms 2 * (192 + 160 + 96 + 6*192) = 3,200; linear 192*10 + 10 = 1,930. (With the table's
    # three input channels, which MNIST does not have, 2*25*192 more.)
    assert sum(value.numel() for value in network.parameters()) == 990_912 + 3_200 + 1_930
    assert (
        sum(value.numel() for value in network_in_network(3, 10, 28, 28).parameters())
        == 996_042 + 9_600
    )
    assert network[:-2](torch.zeros(2, 1, 28, 28)).shape == (2, 192, 7, 7)


def test_ghosts_are_normalised_apart():
    """Every 32 images by their own mean and variance; what is remembered is the mean over
    ghosts."""
    x = torch.randn(64, 3, 2, 2, generator=torch.Generator().manual_seed(0)) * 3 + 1
    ghost = _GhostBatchNorm(3).train()
    with torch.no_grad():
        ghost.weight.copy_(torch.tensor([1.0, 2.0, 3.0]))
        ghost.bias.copy_(torch.tensor([0.5, 0.0, -0.5]))
    halves = [x[0::2], x[1::2]]
    apart = []
    for half in halves:
        one = nn.BatchNorm2d(3).train()
        one.load_state_dict(
            nn.BatchNorm2d(3).state_dict() | {"weight": ghost.weight, "bias": ghost.bias}
        )
        apart.append((one(half), one.running_mean, one.running_var))
    normed = ghost(x)
    assert torch.allclose(normed[0::2], apart[0][0], atol=1e-5)
    assert torch.allclose(normed[1::2], apart[1][0], atol=1e-5)
    assert torch.allclose(ghost.running_mean, (apart[0][1] + apart[1][1]) / 2, atol=1e-6)
    assert torch.allclose(ghost.running_var, (apart[0][2] + apart[1][2]) / 2, atol=1e-6)
    assert not torch.allclose(
        normed,
        nn.BatchNorm2d(3).train()(x) * ghost.weight.view(3, 1, 1) + ghost.bias.view(3, 1, 1),
        atol=1e-3,
    )


def test_the_paper_s_settings_unless_others_are_given():
    assert recipe_for("resnet9", (32, 32, 3), epochs=None) == PAPER["resnet9"]
    recipe = recipe_for("network_in_network", (28, 28, 1), epochs=3, learning_rate=None, flip=True)
    assert (recipe.epochs, recipe.learning_rate, recipe.flip, recipe.batch_size) == (
        3,
        3.16e-4,
        True,
        128,
    )
    rates = [_share(PAPER["resnet9"], step / 80) for step in range(81)]
    assert max(rates) == rates[16] == 1.0
    assert (rates[0], rates[8], rates[48], rates[80]) == pytest.approx((0.0, 0.5, 0.5, 0.0))
    assert [_share(PAPER["network_in_network"], done) for done in (0.0, 0.5, 1.0)] == pytest.approx(
        [1.0, 0.5, 0.0]
    )


# ---- apart ----


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("network", ["resnet9", "network_in_network"])
def test_a_changed_pixel_moves_its_own_submodel_alone(few, network, device):
    X, y = few
    net = small(network, device=device, deterministic=True)
    first = net.fit_submodels(X, y, SETS[:2], [0, 1])
    poisoned = X.copy()
    poisoned[:, SETS[1]] = np.random.default_rng(0).integers(0, 256, (len(X), len(SETS[1])))
    second = net.fit_submodels(poisoned, y, SETS[:2], [0, 1])
    assert [same(a, b) for a, b in zip(first, second, strict=True)] == [True, False]


def test_a_submodel_is_the_same_whatever_else_is_trained(few, honest):
    alone = small().fit_submodels(*few, [SETS[1]], [11])
    assert same(alone[0], honest[1])
    other = small().fit_submodels(*few, [SETS[1]], [12])
    assert not same(other[0], honest[1])


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_submodel_that_diverges_takes_no_other_along(few, digits, honest, monkeypatch, value):
    built = MaskedSubmodel._built

    def broken(self):
        network = built(self)
        if self.pixels == tuple(SETS[1]):
            nn.init.constant_(next(network.parameters()), value)
        return network

    monkeypatch.setattr(MaskedSubmodel, "_built", broken)
    submodels = small().fit_submodels(*few, SETS, [10, 11, 12])
    assert [same(a, b) for a, b in zip(submodels, honest, strict=True)] == [True, False, True]
    scores = submodels.scores(digits.X_test[:50])
    assert (scores[:, 1] == np.float32(FLOOR)).all()
    assert np.array_equal(scores[:, [0, 2]], honest.scores(digits.X_test[:50])[:, [0, 2]])


def test_what_a_submodel_says_of_a_row_hangs_on_its_own_pixels(digits, honest):
    X = digits.X_test[:100]
    before = honest.scores(X)
    assert before.shape == (100, 3, 10)
    assert before.dtype == np.float32
    for t in range(3):
        attacked = X.copy()
        attacked[:, SETS[t]] = 255 - attacked[:, SETS[t]]
        assert (honest.scores(attacked) != before).any(axis=(0, 2)).tolist() == [
            other == t for other in range(3)
        ]


def test_nothing_is_drawn_from_what_others_draw_from(few, honest):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    again = small().fit_submodels(*few, [SETS[0]], [10])
    assert torch.equal(torch.rand(3), expected)
    assert same(again[0], honest[0])


# ---- images ----


def one(pixels, shape=SHAPE, **settings):
    return MaskedSubmodel(
        pixels,
        shape,
        np.arange(2),
        "resnet9",
        recipe_for("resnet9", shape, **settings),
        0,
        torch.device("cpu"),
    )


def test_all_other_pixels_are_zero():
    own = torch.full((2, 3, 2), 255, dtype=torch.uint8)
    masked = one([0, 9, 63], (8, 8, 2), shift=2, erase=0)._masked(own)
    assert masked.shape == (2, 8, 8, 2)
    assert masked.flatten(1, 2)[:, [0, 9, 63]].unique().tolist() == [(255 - 127.5) / 64]
    assert masked.count_nonzero() == 2 * 3 * 2


def test_images_are_moved_as_by_padding_and_cutting():
    """Mirrored at the edge, by up to two pixels each way, and flipped: every way that there is
    comes up, and no other."""
    shape = (8, 9, 2)
    submodel, image = (
        one(list(range(72)), shape, shift=2, erase=0),
        np.random.default_rng(0).random(shape, dtype=np.float32),
    )
    padded = np.pad(image, ((2, 2), (2, 2), (0, 0)), mode="reflect")
    ways = [
        padded[down : down + 8, right : right + 9][:, ::step]
        for down, right, step in itertools.product(range(5), range(5), (1, -1))
    ]
    seen = submodel._augmented(
        torch.from_numpy(image).expand(600, *shape), torch.Generator().manual_seed(0)
    ).numpy()
    which = [[k for k, way in enumerate(ways) if np.array_equal(way, moved)] for moved in seen]
    assert all(len(found) == 1 for found in which)
    assert {found[0] for found in which} == set(range(50))


def test_a_square_is_erased():
    submodel = one(list(range(64)), shift=0, flip=False, erase=3)
    seen = (
        submodel._augmented(torch.ones(400, *SHAPE), torch.Generator().manual_seed(0))[..., 0] == 0
    )
    assert (seen.sum(dim=(1, 2)) == 9).all()
    assert (seen.any(dim=1).sum(dim=1) == 3).all()
    assert seen.any(dim=0).all()  # corners too


# ---- training ----


def test_it_learns_and_certifies(digits):
    net = small(epochs=4, batch_size=8, learning_rate=1e-3, flip=False, shift=1)
    clf = FeaturePartitionClassifier(net, n_submodels=2, partition="strided", image_shape=SHAPE)
    names = np.asarray(digits.classes, dtype=object)
    clf.fit(digits.X_train[:192], names[digits.y_train[:192]])
    X, truth = digits.X_test[:128], names[digits.y_test[:128]]
    proof = clf.certify(X)
    assert certified_accuracy(truth, proof, 0) > 0.4
    assert proof.counts.what == "pixels"
    assert len(clf.estimators_) == 2
    submodel = clf.estimators_[1]
    assert submodel.pixels == clf.partition_[1]
    assert (submodel.predict(X) == truth).mean() > 0.3
    assert np.allclose(np.log(submodel.predict_proba(X)), clf.ballots(X)[:, 1], atol=1e-4)


def test_alone_it_is_a_classifier(digits):
    net = clone(
        small(
            "resnet9",
            epochs=4,
            batch_size=16,
            learning_rate=0.05,
            flip=False,
            shift=1,
            deterministic=True,
        )
    )
    net.fit(digits.X_train[:96], digits.y_train[:96])
    X, truth = digits.X_test[:128], digits.y_test[:128]
    assert (net.predict(X) == truth).mean() > 0.4
    assert net.predict_proba(X).sum(axis=1) == pytest.approx(1.0, abs=1e-4)
    assert not torch.are_deterministic_algorithms_enabled()


def test_an_interrupted_fit_goes_on_exactly(few, honest, tmp_path, monkeypatch):
    fit, fitted = MaskedSubmodel.fit, []

    def stopping(self, own, labels, t, progress):
        fitted.append(t)
        if fitted == [0, 1]:
            raise KeyboardInterrupt
        fit(self, own, labels, t, progress)

    monkeypatch.setattr(MaskedSubmodel, "fit", stopping)
    net = small(checkpoint=tmp_path / "state")
    with pytest.raises(KeyboardInterrupt):
        net.fit_submodels(*few, SETS, [10, 11, 12])
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["0000.pt"]
    X, y = few
    changed = X.copy()
    changed[0, SETS[0][0]] ^= 1
    for submodels in (
        lambda: net.fit_submodels(changed, y, SETS, [10, 11, 12]),
        lambda: net.fit_submodels(X, y[::-1], SETS, [10, 11, 12]),
        lambda: net.fit_submodels(X, y, SETS, [9, 11, 12]),
        lambda: net.fit_submodels(X, y, SETS[::-1], [10, 11, 12]),
        lambda: clone(net).set_params(epochs=2).fit_submodels(X, y, SETS, [10, 11, 12]),
        lambda: clone(net).set_params(network="resnet9").fit_submodels(X, y, SETS, [10, 11, 12]),
    ):
        with pytest.raises(
            InputError,
            match="is of other images, labels, columns, seeds or settings: remove the folder",
        ):
            submodels()
    resumed = net.fit_submodels(X, y, SETS, [10, 11, 12])
    assert fitted == [0, 1, 1, 2]
    assert all(same(a, b) for a, b in zip(resumed, honest, strict=True))
    assert np.array_equal(resumed.scores(X), honest.scores(X))
    (tmp_path / "state" / "0002.pt").write_bytes(b"nonsense")
    with pytest.raises(InputError, match=r"cannot be read .* remove it"):
        net.fit_submodels(X, y, SETS, [10, 11, 12])


def test_progress(few, capsys):
    small(verbose=1).fit_submodels(*few, SETS[:2], [0, 1])
    told = capsys.readouterr().err.splitlines()
    assert told[-1].startswith("partita: submodel 2 of 2, epoch 1 of 1, loss ")
    assert told[-1].endswith("about 0 s left")


def test_too_little_memory_says_what_to_lower(few, monkeypatch):
    monkeypatch.setattr(
        MaskedSubmodel, "fit", lambda *_: (_ for _ in ()).throw(torch.OutOfMemoryError("no"))
    )
    with pytest.raises(InputError, match="batch_size=32: lower batch_size"):
        small().fit(*few)


# ---- bad input ----


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"network": "resnet10"},
            "network is 'resnet10': give one of 'resnet9', 'network_in_network'",
        ),
        ({"epochs": 0}, "epochs is 0: it must be a whole number, 1 or above"),
        ({"batch_size": 1}, "batch_size is 1: it must be a whole number, 2 or above"),
        ({"shift": 8}, "shift is 8, but an image's shorter side has 8 pixels: lower shift"),
        ({"erase": -1}, "erase is -1"),
        ({"learning_rate": -1.0}, "learning_rate is -1.0: it must be a number, at least 0"),
        (
            {"label_smoothing": 1},
            "label_smoothing is 1: it must be a number, at least 0 and below 1",
        ),
        ({"device": "gpu"}, "device is 'gpu'"),
        ({"image_shape": (8, 8)}, r"image_shape is \(8, 8\): give \(height, width, channels\)"),
        ({"image_shape": (8, 9, 1)}, r"needs \(images, 72\)"),
        ({"image_shape": (4, 16, 1), "network": "resnet9"}, "resnet9 needs 8 x 8 at least"),
    ],
)
def test_bad_settings(settings, message, few):
    with pytest.raises(InputError, match=message):
        small().set_params(**settings).fit(*few)


def test_bad_images_and_columns(few):
    X, y = few
    with pytest.raises(InputError, match="y has 3 labels for 64 images"):
        small().fit(X, y[:3])
    with pytest.raises(InputError, match="X has 1 images: give two at least"):
        small().fit(X[:1], y[:1])
    with pytest.raises(InputError, match="no whole numbers from 0 to 255"):
        small().fit(X / 2, y)
    with pytest.raises(InputError, match="some channels of a pixel"):
        small().set_params(image_shape=(8, 4, 2)).fit_submodels(X, y, [[0, 1, 2]], [0])


def test_what_cannot_be_stored_says_so(few, tmp_path):
    X, y = few
    net = small().set_params(epochs=1)
    clf = FeaturePartitionClassifier(
        net, n_submodels=2, partition="strided", image_shape=SHAPE
    ).fit(X, y)
    with pytest.raises(
        StoreError, match="MaskedSubmodels cannot be stored: use PixelSetClassifier"
    ):
        store.save(clf, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
