"""LeaveOutImageClassifier: patches by agreement, with trusted and with attackable training."""

import numpy as np
import pytest
import torch
from sklearn.base import clone

from partita import InputError
from partita.metrics import certified_accuracy
from partita.rules import Agreement
from partita.vision import LeaveOutImageClassifier
from partita.vision import _leave_out_images as leave_out_images
from partita.vision._masked_classifier import MaskedSubmodel

from .small_networks import DEVICES, SHAPE, same

TRAININGS = ["trusted", "attackable"]


def classifier(training="trusted", **settings):
    """A classifier that is trained soon, against 2 x 2 patches."""
    quick = {
        "patches": (2, 2),
        "windows": 4,
        "network": "tiny",
        "epochs": 2,
        "device": "cpu",
        "verbose": 0,
    }
    return LeaveOutImageClassifier(SHAPE, training=training, **{**quick, **settings})


@pytest.fixture(scope="module", params=[*TRAININGS, "shared"])
def fitted(request, few):
    """In "shared", models are means of networks that leave out three windows of four."""
    shared = request.param == "shared"
    more = {"leave_out": 3} if shared else {}
    training = "attackable" if shared else request.param
    return classifier(training, epochs=10, flip=False, shift=0, erase=0, **more).fit(*few)


def all_votes(clf, X):
    """What every model says of every image, the model on whole images last."""
    n_models = len(clf.left_out_) + 1
    ask = clf._votes(X.reshape(len(X), 64, 1))
    image, model = np.divmod(np.arange(len(X) * n_models), n_models)
    return ask(image, model).reshape(len(X), n_models)


def test_it_says_what_agreement_says_of_all_votes(fitted, digits):
    X = digits.X_test[:100]
    votes = all_votes(fitted, X)
    expected = Agreement(1).certify(votes[:, :-1], fitted.left_out_, votes[:, -1])
    proof = fitted.certify(X)
    assert np.array_equal(proof.prediction, fitted.classes_[expected.prediction])
    assert np.array_equal(proof.radius, expected.radius)
    assert np.array_equal(fitted.predict(X), proof.prediction)
    assert set(proof.radius) == {0, 1}
    assert proof.runner_up is None
    assert 0 < fitted.evaluations_per_image_ < 7
    assert fitted.seconds_per_image_ > 0


def test_several_patches_say_what_agreement_says(few, digits):
    clf = classifier(n_patches=2, windows=9, epochs=8).fit(*few)
    X = digits.X_test[:40]
    votes = all_votes(clf, X)
    assert votes.shape == (40, 127)
    expected = Agreement(2).certify(votes[:, :-1], clf.left_out_, votes[:, -1])
    proof = clf.certify(X)
    assert np.array_equal(proof.prediction, clf.classes_[expected.prediction])
    assert np.array_equal(proof.radius, expected.radius)
    assert proof.counts.total == 2


def test_counts_say_what_is_trusted(fitted, few):
    proof = fitted.certify(few[0][:3])
    assert proof.counts.what == "patches of 2 x 2 pixels"
    assert proof.counts.total == 1
    trusted = fitted.training == "trusted"
    places = "the training images" if trusted else "other places of the training images"
    assert proof.counts.trusted == (places,)
    assert fitted.grid_ == (2, 2)
    assert fitted.windows_.shape == (4, 8, 8)
    shared = fitted.leave_out is not None
    assert len(fitted.networks_) == (1 if trusted else 4 + 1 if shared else 6 + 1)


def test_several_shapes_are_named(few):
    clf = classifier(patches=[(1, 3), (2, 2)]).fit(*few)
    assert clf.certify(few[0][:2]).counts.what == "patches of 1 x 3 or 2 x 2 pixels"
    assert clf.windows_[0].sum() == 5 * 5  # made for 2 x 3


def test_blocks_of_images_change_nothing(fitted, digits, monkeypatch):
    X = digits.X_test[:30]
    together = fitted.certify(X)
    monkeypatch.setattr(leave_out_images, "IMAGES_AT_ONCE", 7)
    apart = fitted.certify(X)
    assert np.array_equal(together.prediction, apart.prediction)
    assert np.array_equal(together.radius, apart.radius)
    assert len(fitted.certify(X[:0])) == len(fitted.predict(X[:0])) == 0


@pytest.mark.parametrize("device", DEVICES)
def test_what_lies_under_left_out_windows_changes_no_vote(fitted, few, device):
    """Every patch position, in the image: bit for bit."""
    clf = clone(fitted).set_params(device=device, epochs=1, deterministic=True).fit(*few)
    rng = np.random.default_rng(0)
    X = few[0][:4]
    before = all_votes(clf, X)
    for top in range(7):
        for left in range(7):
            attacked = X.reshape(-1, 8, 8).copy()
            attacked[:, top : top + 2, left : left + 2] = rng.integers(256, size=(4, 2, 2))
            under = np.zeros((8, 8), dtype=bool)
            under[top : top + 2, left : left + 2] = True
            inside = (clf.windows_ >= under).all(axis=(1, 2))
            assert inside.any()
            untouched = clf.left_out_[:, inside].any(axis=1)
            after = all_votes(clf, attacked.reshape(4, 64))
            assert np.array_equal(after[:, :-1][:, untouched], before[:, :-1][:, untouched])


def test_no_patch_changes_a_certified_prediction(fitted, digits):
    """Every position, with random, black and white patches."""
    X = digits.X_test[:60]
    proof = fitted.certify(X)
    X, expected = X[proof.radius == 1][:12], proof.prediction[proof.radius == 1][:12]
    assert len(X) > 3
    rng = np.random.default_rng(0)
    attacked = []
    for top in range(7):
        for left in range(7):
            for patch in (rng.integers(256, size=(len(X), 2, 2)), 0, 255):
                images = X.reshape(-1, 8, 8).copy()
                images[:, top : top + 2, left : left + 2] = patch
                attacked.append(images.reshape(-1, 64))
    found = fitted.predict(np.concatenate(attacked)).reshape(-1, len(X))
    assert (found == expected).all()


@pytest.mark.parametrize("leave_out", [None, 3])
@pytest.mark.parametrize("device", DEVICES)
def test_refitting_on_patched_images_changes_no_network_that_leaves_the_patch_out(
    few, device, leave_out
):
    X, y = few
    X, y = X[:32], y[:32]
    settings = {"device": device, "epochs": 1, "deterministic": True, "leave_out": leave_out}
    honest = classifier("attackable", **settings).fit(X, y)
    for top, left in [(0, 0), (3, 2), (6, 6)]:
        patched = X.reshape(-1, 8, 8).copy()
        patched[:, top : top + 2, left : left + 2] ^= 255
        poisoned = clone(honest).fit(patched.reshape(-1, 64), y)
        under = np.zeros((8, 8), dtype=bool)
        under[top : top + 2, left : left + 2] = True
        inside = (honest.windows_ >= under).all(axis=(1, 2))
        untouched = honest.networks_left_out_[:, inside].any(axis=1).tolist()
        kept = [
            same(a.weights, b.weights)
            for a, b in zip(honest.networks_, poisoned.networks_, strict=True)
        ]
        assert kept == untouched
        assert any(untouched)
        models = honest.left_out_[:, inside].any(axis=1)
        before, after = all_votes(honest, X), all_votes(poisoned, X)
        assert np.array_equal(before[:, :-1][:, models], after[:, :-1][:, models])


@pytest.mark.parametrize("members", [1, 2])
def test_a_shared_model_is_the_mean_of_all_networks_that_leave_its_windows_out(few, members):
    clf = classifier("attackable", leave_out=3, members=members).fit(*few)
    X = few[0][:20]
    votes = all_votes(clf, X)
    for model, left_out in enumerate([*clf.left_out_, np.zeros(4, dtype=bool)]):
        own = [
            network
            for network, windows in zip(
                clf.networks_, np.tile(clf.networks_left_out_, (members, 1)), strict=True
            )
            if (windows[left_out].all() if left_out.any() else not windows.any())
        ]
        assert len(own) == (2 if left_out.any() else 1) * members
        hidden = np.flatnonzero(clf.windows_[left_out].any(axis=0))
        assert not any({*hidden.tolist()} & {*network.pixels} for network in own)
        shares = sum(network.predict_proba(X) for network in own)
        assert np.array_equal(votes[:, model], shares.argmax(axis=1))


def test_two_windows_per_network_are_what_it_does_by_default(few):
    default, given = (
        classifier("attackable", leave_out=leave_out).fit(*few) for leave_out in (None, 2)
    )
    assert all(
        same(a.weights, b.weights) for a, b in zip(default.networks_, given.networks_, strict=True)
    )
    assert np.array_equal(default.networks_left_out_[:-1], default.left_out_)


@pytest.mark.parametrize("training", TRAININGS)
def test_it_learns_and_certifies(digits, training):
    names = np.asarray(digits.classes, dtype=object)
    clf = classifier(training, epochs=20, windows=9, flip=False, shift=0, erase=0, members=2)
    if training == "attackable":
        clf.set_params(windows=4, epochs=8)
    clf.fit(digits.X_train[:500], names[digits.y_train[:500]])
    proof = clf.certify(digits.X_test[:200])
    truth = names[digits.y_test[:200]]
    assert certified_accuracy(truth, proof, 0) > 0.75
    assert certified_accuracy(truth, proof, 1) > 0.25
    assert clf.score(digits.X_test[:200], truth) == certified_accuracy(truth, proof, 0)


@pytest.mark.parametrize("training", TRAININGS)
def test_the_same_bits_twice_and_members_that_differ(few, training):
    first, second = (
        classifier(training, epochs=1, members=2, deterministic=True).fit(*few) for _ in range(2)
    )
    pairs = list(zip(first.networks_, second.networks_, strict=True))
    assert all(same(a.weights, b.weights) for a, b in pairs)
    per_member = len(pairs) // 2
    assert not same(first.networks_[0].weights, first.networks_[per_member].weights)
    one = classifier(training, epochs=1).fit(*few)
    assert all(
        same(a.weights, b.weights)
        for a, b in zip(one.networks_, first.networks_[:per_member], strict=True)
    )


@pytest.mark.parametrize("training", TRAININGS)
def test_an_interrupted_fit_resumes_exactly(few, tmp_path, monkeypatch, training):
    clf = classifier(training, members=2, checkpoint=tmp_path / "state")
    fit, calls = MaskedSubmodel.fit, []

    def stopping(self, own, labels):
        calls.append(self.seed)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return fit(self, own, labels)

    monkeypatch.setattr(MaskedSubmodel, "fit", stopping)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(*few)
    clf.fit(*few)
    total = len(clf.networks_)
    assert len(calls) == total + 1
    whole = clone(clf).set_params(checkpoint=None).fit(*few)
    assert all(
        same(a.weights, b.weights) for a, b in zip(clf.networks_, whole.networks_, strict=True)
    )
    for other in ({"windows": 9}, {"epochs": 3}, {"random_state": 1}):
        with pytest.raises(InputError, match="belongs to other images, labels"):
            clone(clf).set_params(**other).fit(*few)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"training": "poisoned"}, "training is 'poisoned': give 'trusted' or 'attackable'"),
        ({"n_patches": 0}, "n_patches is 0: it must be a whole number"),
        ({"members": 1.5}, "members is 1.5: it must be a whole number"),
        ({"random_state": -1}, "random_state is -1: it must be a whole number"),
        ({"network": "vit"}, "network is 'vit': give one of"),
        ({"patches": (9, 1)}, "patches holds 9 x 1, larger than the image"),
        ({"windows": 2}, "needs at least 3 windows"),
        ({"epochs": 0}, "epochs is 0"),
        ({"leave_out": 3}, "leave_out is for training='attackable'"),
        (
            {"training": "attackable", "leave_out": 1},
            "leave_out is 1: it must be a whole number, 2 or above",
        ),
        (
            {"training": "attackable", "leave_out": 4},
            "leave_out is 4, but there are 4 windows, of which a network must see some",
        ),
    ],
)
def test_bad_settings_are_refused(few, settings, message):
    with pytest.raises(InputError, match=message):
        classifier(**settings).fit(*few)


def test_a_model_that_would_see_nothing_is_refused(few):
    with pytest.raises(InputError, match="sees nothing of the image: give more windows"):
        classifier("attackable", patches=(8, 6), windows=3).fit(*few)


def test_one_image_is_too_few(few):
    with pytest.raises(InputError, match="X has 1 images: give at least two"):
        classifier().fit(few[0][:1], few[1][:1])


def test_progress_is_shown(few, capsys):
    classifier(verbose=1).fit(*few).certify(few[0][:4])
    lines = capsys.readouterr().err.splitlines()
    assert any("submodel 1 of 1, loss" in line for line in lines)
    assert lines[-1].startswith("partita: certified 4 of 4 images")


def test_prediction_leaves_the_global_generator_alone(fitted, few):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    fitted.certify(few[0][:4])
    assert torch.equal(torch.rand(3), expected)
