"""Pixel sets: many networks trained at once, and apart."""

import numpy as np
import pytest
import torch
from sklearn.base import clone

from partita import FeaturePartitionClassifier, InputError, StoreError, store
from partita.datasets import load_digits
from partita.ensemble._ballots import FLOOR
from partita.metrics import certified_accuracy
from partita.partition._units import pixels
from partita.vision import PixelSetClassifier
from partita.vision._config import Settings
from partita.vision._networks import PixelSetNetworks, _images_in_one
from partita.vision._pixel_sets import PixelSets
from partita.vision._submodels import pixels_of
from partita.vision._training import train

SHAPE = (8, 8, 1)
SETS = [list(range(t, 64, 7)) for t in range(7)]  # of 9 and 10 pixels
SMALL = Settings(width=8, blocks=1, heads=2, epochs=2, batch_size=64, shift=1)


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    """Matrices this small are slower on two."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def digits():
    return load_digits()


# where there is a GPU, submodels are shown to stay apart there too, compiled as they are for real
# training
DEVICES = [
    "cpu",
    pytest.param(
        "cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
    ),
]


def fitted(X, y, settings=SMALL, sets=SETS, shape=SHAPE, device="cpu", **options):
    model = PixelSets(sets, shape, 10, settings, list(range(len(sets))))
    return train(model, X, y, device=device, verbose=0, **options)


def weights(model, t):
    """All weights of submodel t."""
    members = model.settings.members
    return {
        name: value[t * members : (t + 1) * members].clone()
        for name, value in model.networks.state_dict().items()
    }


def same(a, b):
    return all(torch.equal(a[name], b[name]) for name in a)


# ---- apart ----


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("members", [1, 2])
def test_a_changed_pixel_moves_its_own_submodel_alone(digits, members, device):
    """The columns of one submodel are rewritten in all training images: the others' weights stay,
    bit for bit."""
    settings = Settings(**{**SMALL.as_dict(), "members": members})
    X, y = digits.X_train[:192], digits.y_train[:192]
    honest = fitted(X, y, settings, device=device)
    for t in (0, 3, 6):
        poisoned = X.copy()
        poisoned[:, SETS[t]] = np.random.default_rng(t).integers(0, 256, (len(X), len(SETS[t])))
        model = fitted(poisoned, y, settings, device=device)
        for other in range(7):
            assert same(weights(model, other), weights(honest, other)) == (other != t)


@pytest.mark.parametrize("device", DEVICES)
def test_a_submodel_that_diverges_takes_no_other_along(digits, device):
    X, y = digits.X_train[:192], digits.y_train[:192]
    honest = fitted(X, y, device=device)
    for value in (np.nan, np.inf, 1e30):
        model = PixelSets(SETS, SHAPE, 10, SMALL, list(range(7)))
        with torch.no_grad():
            model.networks.weights["enter"][2] = value
        train(model, X, y, device=device, verbose=0)
        for other in range(7):
            assert same(weights(model, other), weights(honest, other)) == (other != 2)
        scores = model.scores(digits.X_test)
        assert np.isfinite(scores).all()
        assert np.array_equal(
            np.delete(scores, 2, axis=1), np.delete(honest.scores(digits.X_test), 2, axis=1)
        )
    assert (scores[:, 2] == FLOOR).any() or np.isfinite(scores[:, 2]).all()


@pytest.mark.parametrize("device", DEVICES)
def test_what_a_submodel_says_of_a_row_hangs_on_its_own_pixels(digits, device):
    model = fitted(digits.X_train[:192], digits.y_train[:192], device=device)
    honest = model.scores(digits.X_test)
    for t in range(7):
        attacked = digits.X_test.copy()
        attacked[:, SETS[t]] = 255 - attacked[:, SETS[t]]
        changed = (model.scores(attacked) != honest).any(axis=(0, 2))
        assert changed.tolist() == [other == t for other in range(7)]


@pytest.mark.parametrize("device", DEVICES)
def test_a_row_is_scored_whatever_the_other_rows_hold(digits, device):
    model = fitted(digits.X_train[:192], digits.y_train[:192], device=device)
    alone = model.scores(digits.X_test[:8])
    mixed = digits.X_test[:8].copy()
    mixed[1:] = 255 - mixed[1:]
    assert np.array_equal(model.scores(mixed)[0], alone[0])


def test_views_are_averaged(digits):
    """The image as it is, and said to lie one pixel further to each side; each mirrored too."""
    settings = Settings(**{**SMALL.as_dict(), "views": 5})
    model = fitted(digits.X_train[:192], digits.y_train[:192], settings)
    averaged, places, size = model.scores(digits.X_test[:20]), model.places, model.pixel_size
    model.settings = Settings(**{**SMALL.as_dict(), "views": 1, "flip": False})
    views = []
    for down, right in ((0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)):
        for turn in (1, -1):
            model.places = places * torch.tensor([1, turn]) + size * torch.tensor([down, right])
            views.append(model.scores(digits.X_test[:20]))
    np.testing.assert_allclose(averaged, np.mean(views, axis=0), rtol=1e-5, atol=1e-6)
    assert np.abs(averaged - views[0]).max() > 1e-3


def test_the_order_of_submodels_and_their_number_do_not_matter(digits):
    """A submodel is its pixels, its seed and the labels; which others are trained beside it changes
    nothing but rounding."""
    X, y = digits.X_train[:192], digits.y_train[:192]
    together = fitted(X, y, Settings(**{**SMALL.as_dict(), "token_drop": 0.0})).scores(
        digits.X_test
    )
    model = PixelSets(
        SETS[2:4], SHAPE, 10, Settings(**{**SMALL.as_dict(), "token_drop": 0.0}), [2, 3]
    )
    first = {name: value.clone() for name, value in model.networks.state_dict().items()}
    whole = PixelSets(SETS, SHAPE, 10, SMALL, list(range(7))).networks.state_dict()
    assert all(torch.equal(first[name], whole[name][2:4]) for name in first)  # the same start
    assert together.shape == (len(digits.X_test), 7, 10)


# ---- the network ----


def test_several_images_in_one_matrix_change_nothing():
    """Attention in groups (training) gives what attention image by image (predicting) gives."""
    generator = torch.Generator().manual_seed(0)
    networks = PixelSetNetworks(
        [1, 2], channels=3, classes=5, width=16, blocks=2, heads=2, expand=2
    )
    with torch.no_grad():
        for value in networks.parameters():
            value.add_(0.3 * torch.randn(value.shape, generator=generator))
    colours, places = (
        torch.randn(2, 12, 5, 3, generator=generator),
        torch.rand(2, 12, 5, 2, generator=generator),
    )
    present = torch.rand(2, 12, 5, generator=generator) > 0.4
    present[..., 0] = True
    assert _images_in_one(12, 5) == 4
    grouped, alone = (
        networks.train()(colours, places, present),
        networks.eval()(colours, places, present),
    )
    assert torch.allclose(grouped, alone, atol=1e-5)
    absent = colours.clone()
    absent[~present] = 9.0  # what is absent is not looked at
    assert torch.allclose(networks(absent, places, present), alone, atol=1e-6)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # the compiler's libraries warn of each other
def test_compiled_and_plain_have_the_same_gradients():
    """What a compiler makes of the networks, in the short numbers that GPUs use, has finite
    gradients, close to the plain ones."""
    gradients = []
    for compiled in (False, True):
        networks = PixelSetNetworks(
            [1, 2], channels=1, classes=3, width=16, blocks=1, heads=2, expand=2
        )
        with torch.no_grad():
            for k, value in enumerate(networks.parameters()):
                value.add_(
                    0.1 * torch.randn(value.shape, generator=torch.Generator().manual_seed(k))
                )
        draw = torch.Generator().manual_seed(0)
        colours, places = (
            torch.randn(2, 8, 5, 1, generator=draw).bfloat16(),
            torch.rand(2, 8, 5, 2, generator=draw),
        )
        run = torch.compile(networks, dynamic=False) if compiled else networks
        run(colours, places, torch.ones(2, 8, 5, dtype=torch.bool)).square().sum().backward()
        gradients.append({name: value.grad for name, value in networks.named_parameters()})
    for name, plain in gradients[0].items():
        assert gradients[1][name].isfinite().all(), name
        assert (gradients[1][name] - plain).norm() <= 0.1 * plain.norm() + 1e-3, name


def test_places_are_told_apart(digits):
    """Moving a set of pixels elsewhere changes what the network says."""
    model = fitted(digits.X_train[:192], digits.y_train[:192])
    scores = model.scores(digits.X_test)
    model.places = model.places + 0.5
    assert not np.allclose(model.scores(digits.X_test), scores)


# ---- training ----


def test_it_learns_and_certifies(digits):
    net = PixelSetClassifier(
        SHAPE,
        width=24,
        blocks=1,
        epochs=12,
        batch_size=64,
        flip=False,
        shift=0,
        device="cpu",
        verbose=0,
    )
    clf = FeaturePartitionClassifier(
        net, n_submodels=6, partition="strided", image_shape=SHAPE
    ).fit(digits.X_train, digits.y_train)
    proof = clf.certify(digits.X_test)
    assert certified_accuracy(digits.y_test, proof, 0) > 0.75
    assert certified_accuracy(digits.y_test, proof, 1) > 0.4
    assert proof.counts.what == "pixels"
    assert clf.score(digits.X_test, digits.y_test) == certified_accuracy(digits.y_test, proof, 0)
    assert len(clf.estimators_) == 6
    one = clf.estimators_[2]
    assert one.pixels == clf.partition_[2]
    assert np.allclose(
        one.predict_proba(digits.X_test), np.exp(clf.ballots(digits.X_test)[:, 2]), atol=1e-6
    )


def test_the_same_twice(digits):
    X, y = digits.X_train[:192], digits.y_train[:192]
    first, second = fitted(X, y), fitted(X, y, deterministic=True)
    assert same(weights(first, 4), weights(second, 4))


def test_an_interrupted_training_goes_on_exactly(digits, tmp_path, monkeypatch):
    settings = Settings(**{**SMALL.as_dict(), "epochs": 4})
    X, y = digits.X_train[:192], digits.y_train[:192]
    undisturbed = fitted(X, y, settings)
    monkeypatch.setattr("partita.vision._training.CHECKPOINT_EVERY", 0.0)
    from partita.vision._training import _Training

    epoch = _Training.epoch

    def stopping(self, number):
        if number == 2:
            raise KeyboardInterrupt
        return epoch(self, number)

    with monkeypatch.context() as patch:
        patch.setattr(_Training, "epoch", stopping)
        with pytest.raises(KeyboardInterrupt):
            fitted(X, y, settings, checkpoint=tmp_path / "state.pt")
    assert [path.name for path in tmp_path.iterdir()] == ["state.pt"]
    with pytest.raises(InputError, match="is of other images or settings"):
        fitted(X[:-1], y[:-1], settings, checkpoint=tmp_path / "state.pt")
    epochs = []
    monkeypatch.setattr(
        _Training, "epoch", lambda self, number: epochs.append(number) or epoch(self, number)
    )
    resumed = fitted(X, y, settings, checkpoint=tmp_path / "state.pt")
    assert epochs == [2, 3]
    assert all(same(weights(resumed, t), weights(undisturbed, t)) for t in range(7))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "state.pt").write_bytes(b"nonsense")
    with pytest.raises(InputError, match="cannot be read"):
        fitted(X, y, settings, checkpoint=tmp_path / "state.pt")


def test_progress(digits, capsys):
    model = PixelSets(SETS, SHAPE, 10, SMALL, list(range(7)))
    train(model, digits.X_train[:64], digits.y_train[:64], device="cpu")
    assert "epoch 2 of 2, loss 2." in capsys.readouterr().err


def test_too_little_memory_says_what_to_lower(digits, monkeypatch):
    from partita.vision._training import _Training

    monkeypatch.setattr(
        _Training, "epoch", lambda self, number: (_ for _ in ()).throw(torch.OutOfMemoryError("no"))
    )
    with pytest.raises(InputError, match="lower batch_size first"):
        fitted(digits.X_train[:64], digits.y_train[:64])


# ---- alone, searched, stored ----


def test_alone_it_is_a_classifier(digits):
    net = PixelSetClassifier(
        SHAPE,
        width=16,
        blocks=1,
        heads=2,
        epochs=3,
        batch_size=64,
        flip=False,
        device="cpu",
        verbose=0,
    )
    y = np.asarray(digits.classes, dtype=object)[digits.y_train]
    net = clone(net).fit(digits.X_train, y)
    assert net.predict_proba(digits.X_test).shape == (360, 10)
    assert net.predict_proba(digits.X_test).sum(axis=1) == pytest.approx(1.0, abs=1e-4)
    assert set(net.predict(digits.X_test)) <= set(digits.classes)


def test_stored_and_loaded_gives_the_same_ballots(digits, tmp_path):
    net = PixelSetClassifier(
        SHAPE,
        width=8,
        blocks=1,
        heads=2,
        epochs=1,
        batch_size=64,
        members=2,
        device="cpu",
        verbose=0,
    )
    y = np.asarray(digits.classes, dtype=object)[digits.y_train]
    clf = FeaturePartitionClassifier(net, n_submodels=5, image_shape=SHAPE).fit(digits.X_train, y)
    for name in ("model", "model.zip"):
        path = store.save(clf, tmp_path / name)
        loaded = store.load(path)
        assert np.array_equal(loaded.ballots(digits.X_test), clf.ballots(digits.X_test))
        assert loaded.estimator.get_params() == net.get_params()
    files = sorted(path.suffix for path in (tmp_path / "model").iterdir())
    assert files == [".json", ".safetensors", ".skops"]
    weights_file = next((tmp_path / "model").glob("*.safetensors"))
    weights_file.write_bytes(weights_file.read_bytes()[:-1] + b"x")
    with pytest.raises(StoreError, match="its sha256 differs"):
        store.load(tmp_path / "model")


def test_a_manifest_with_other_pixels_is_refused(digits, tmp_path):
    """A submodel that looked at another's pixels would void the proof."""
    net = PixelSetClassifier(
        SHAPE, width=8, blocks=1, heads=2, epochs=1, batch_size=64, device="cpu", verbose=0
    )
    clf = FeaturePartitionClassifier(net, n_submodels=5, image_shape=SHAPE).fit(
        digits.X_train[:99], digits.y_train[:99]
    )
    clf.estimators_.model.sets[0], clf.estimators_.model.sets[1] = (
        clf.estimators_.model.sets[1],
        clf.estimators_.model.sets[0],
    )
    with pytest.raises(StoreError, match="not those of the partition"):
        store.load(store.save(clf, tmp_path / "model"))


# ---- bad input ----


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 0}, "width is 0"),
        ({"width": 10, "heads": 4}, "no multiple of heads=4"),
        ({"epochs": 1.5}, "epochs is 1.5"),
        ({"token_drop": 1.0}, "token_drop is 1.0: it must be a number, at least 0 and below 1"),
        ({"learning_rate": -1.0}, "learning_rate is -1.0"),
        ({"shift": -1}, "shift is -1"),
        ({"views": 2}, "views is 2: give 1, 5 or 9"),
        ({"views": 5, "shift": 0}, "with shift=0 only 1"),
        ({"device": "gpu"}, "device is 'gpu'"),
        ({"image_shape": (8, 9, 1)}, r"needs \(images, 72\)"),
    ],
)
def test_bad_settings(settings, message, digits):
    net = PixelSetClassifier(
        **{"image_shape": SHAPE, "device": "cpu", "verbose": 0, "epochs": 1, **settings}
    )
    with pytest.raises(InputError, match=message):
        net.fit(digits.X_train[:64], digits.y_train[:64])


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_no_gpu(digits):
    with pytest.raises(InputError, match="sees no GPU"):
        PixelSetClassifier(SHAPE, device="cuda").fit(digits.X_train[:64], digits.y_train[:64])


def test_images_that_are_no_images(digits):
    net = PixelSetClassifier(SHAPE, epochs=1, device="cpu", verbose=0)
    with pytest.raises(InputError, match="no whole numbers from 0 to 255"):
        net.fit(digits.X_train[:64] / 2, digits.y_train[:64])
    with pytest.raises(InputError, match="y has 3 labels for 64 images"):
        net.fit(digits.X_train[:64], digits.y_train[:3])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"on_failure": "vote"}, "use 'raise'"),
        ({"label_attacks": "rows", "classes": list(range(10))}, "label_attacks cannot"),
    ],
)
def test_what_cannot_be_promised(settings, message, digits):
    net = PixelSetClassifier(SHAPE, epochs=1, device="cpu", verbose=0)
    with pytest.raises(InputError, match=message):
        FeaturePartitionClassifier(net, n_submodels=3, image_shape=SHAPE, **settings).fit(
            digits.X_train[:64], digits.y_train[:64]
        )


def test_sample_weight_is_refused(digits):
    net = PixelSetClassifier(SHAPE, epochs=1, device="cpu", verbose=0)
    clf = FeaturePartitionClassifier(net, n_submodels=3, image_shape=SHAPE)
    with pytest.raises(InputError, match="sample_weight cannot reach"):
        clf.fit(digits.X_train[:64], digits.y_train[:64], sample_weight=np.ones(64))


def test_half_pixels_are_refused():
    assert pixels_of([3, 4, 5, 0, 1, 2], (2, 2, 3)) == [0, 1]
    with pytest.raises(InputError, match="some channels of a pixel"):
        pixels_of([0, 1, 3], (2, 2, 3))
    X = np.zeros((20, 12), dtype=np.uint8)
    net = PixelSetClassifier((2, 2, 3), epochs=1, device="cpu", verbose=0)
    with pytest.raises(InputError, match="some channels of a pixel"):
        FeaturePartitionClassifier(net, n_submodels=3).fit(X, np.arange(20) % 2)
    clf = FeaturePartitionClassifier(net, n_submodels=3, units=pixels((2, 2, 3))).fit(
        X, np.arange(20) % 2
    )
    assert clf.certify(X).counts.total == 4
