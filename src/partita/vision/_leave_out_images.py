"""LeaveOutImageClassifier: a proof against patches, with nearly a full network's accuracy.

A model must learn and see nothing of the windows that it leaves out. What is trusted (training, or
that a patch does not move) is said in the certificates and in the class.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._support import Array, Progress, TableLike, check_whole
from ..certificates import TRAINING_IMAGES, Certificates, Counts
from ..errors import InputError
from ..patches import OTHER_PLACES
from ._images import ImageClassifier, as_images, labelled_images
from ._masked_classifier import MaskedImageClassifier, MaskedSubmodel, fit_in_turn
from ._paper_networks import PaperSettings, Recipe, recipe_for
from ._runtime import choose_device, deterministic_algorithms, torch_seeds
from ._window_votes import AttackableVotes, SettledVotes, TrustedVotes, WindowNetwork
from ._windows import check_patches, choose_grid, left_out_sets

IMAGES_AT_ONCE = 2500  # their votes are in memory together


@dataclass(eq=False, repr=False)
class LeaveOutImageClassifier(ImageClassifier, PaperSettings):
    """Classifier of images that proves its predictions against patches, by agreement.

    Windows are laid over the image, so that a patch lies wholly inside one of them wherever it is.
    For every set of ``2 * n_patches`` windows there is a model that does not see them. A label is
    predicted if, for some set of ``n_patches`` windows, all models that leave out that set predict
    it: they do not see patches that lie there. If there is no such set, a model on whole images
    decides, and nothing is proven. Where all models agree, the prediction survives ``n_patches``
    patches.

    Parameters
    ----------
    image_shape : tuple of (height, width, channels)
        The shape of an image. Images are rows of height x width x channels whole numbers from 0 to
        255, flattened in that order.
    patches : tuple of (height, width) or list of such tuples, default=(5, 5)
        The shapes a patch may have. Windows are made for the greatest height and the greatest
        width of them.
    n_patches : int, default=1
        How many patches an attacker places: the largest radius that can be certified. There are
        ``comb(windows, 2 * n_patches)`` models.
    windows : int, default=49
        How many windows there are, at most. Of all regular grids with at most that many, the one
        with the smallest windows is taken: 49 on 32 x 32 pixels, for a 5 x 5 patch, gives 7 x 7
        windows of 8 x 8 pixels, 25 gives windows of 10 x 10. More and smaller windows mask less,
        and cost more models.
    training : {"trusted", "attackable"}, default="trusted"
        "trusted": one network, trained with windows masked, stands in for all models; the proof
        is about patches in the images to predict. "attackable": one network for every model,
        trained on the pixels outside its windows, one after the other; the proof is also about
        patches in all training images, at the same positions as in the image to predict. Labels
        are trusted.
    network : {"resnet9", "network_in_network"}, default="resnet9"
        The paper's network for CIFAR10, or that for MNIST. With trusted training it has one more
        channel, which says what is masked.
    members : int, default=1
        Networks with other seeds for each set of windows, whose probabilities are averaged.
    leave_out : int, optional
        With attackable training: how many windows a network leaves out, at least
        ``2 * n_patches``, which is the default. A model is the mean of all networks that leave out
        its windows and more: with a larger number models share networks and agree more often, but
        each network sees less of the image.
    epochs : int, optional
        Passes over the images. This and the following settings are, by default, the network's in
        its paper.
    batch_size : int, optional
        Images per step.
    learning_rate : float, optional
        Peak of the learning rate.
    weight_decay : float, optional
        Of the optimizer; norms and biases are exempt.
    label_smoothing : float, optional
        Label smoothing of the cross entropy.
    flip : bool, optional
        Mirror half of the images in training.
    shift : int, optional
        Shift images by up to this many pixels in training; what comes in at an edge is mirrored.
    erase : int, optional
        The side of a square that is emptied at a random place of every image in training.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to train; "auto" is a GPU where there is one.
    deterministic : bool, default=False
        Give the same bits every time on the same device and library version. On a GPU, give True
        with attackable training: the proof is about models that training reproduces.
    checkpoint : path, optional
        A folder with a file for every finished network; an interrupted fit resumes after the last
        of them. The files stay.
    random_state : int, default=0
        The seed; every network has its own, which follows from it.
    verbose : int, default=1
        1 shows progress on standard error.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    grid_ : tuple of int
        How many windows there are, down and across.
    windows_ : array of bool, shape (n_windows, height, width)
        The pixels of each window.
    left_out_ : array of bool, shape (n_models, n_windows)
        The windows that each model leaves out.
    networks_ : list
        The networks: with trusted training one per member, else one for each row of
        ``networks_left_out_``, for one member after the other.
    networks_left_out_ : array of bool, shape (n_sets, n_windows)
        The windows that networks leave out; the last row is the network on whole images.
    n_features_in_ : int
        Values per image.
    seconds_per_image_ : float
        After :meth:`certify`: what an image took.
    evaluations_per_image_ : float
        After :meth:`certify`: the mean number of models evaluated per image.

    See Also
    --------
    partita.LeaveOutClassifier : The same for tables.
    partita.certify_patches : Patches against a partition of the pixels.
    partita.baselines.SmoothingClassifier : De-randomized smoothing.

    References
    ----------
    Theory, section 10 ("Patches").

    Examples
    --------
    >>> from partita.datasets import load_digits
    >>> from partita.vision import LeaveOutImageClassifier
    >>> data = load_digits()
    >>> clf = LeaveOutImageClassifier(
    ...     data.image_shape, patches=(2, 2), windows=4, network="network_in_network", epochs=1,
    ...     device="cpu", verbose=0,
    ... )
    >>> proof = clf.fit(data.X_train[:32], data.y_train[:32]).certify(data.X_test[:5])
    >>> clf.grid_
    (2, 2)
    >>> print(proof.counts)
    patches of 2 x 2 pixels (1 in all, out of reach: the training images)
    """

    __module__ = "partita.vision"  # stored models name public paths

    patches: object = (5, 5)
    n_patches: int = 1
    windows: int = 49
    training: str = "trusted"
    network: str = "resnet9"
    members: int = 1
    leave_out: int | None = None

    def fit(self, X: TableLike, y: ArrayLike) -> Self:
        """Train the networks.

        Parameters
        ----------
        X : array-like of shape (n_images, height * width * channels)
            Flattened images of whole numbers from 0 to 255.
        y : array-like of shape (n_images,)
            Their labels.

        Returns
        -------
        self
            The fitted estimator.
        """
        recipe = recipe_for(self.network, self.image_shape, **self._settings())
        self._check_parameters()
        height, width, _ = map(int, self.image_shape)
        shapes = check_patches(self.patches, self.image_shape)
        grid = choose_grid(self.image_shape, shapes, self.windows, int(self.n_patches))
        left_out = left_out_sets(len(grid), 2 * int(self.n_patches))
        masks, of_networks = grid.masks(), np.zeros((1, len(grid)), dtype=bool)
        if self.training == "trusted":
            networks, classes = self._fit_trusted(X, y, masks, recipe)
        else:
            of_sets = left_out_sets(len(grid), self._windows_per_network(len(grid)))
            of_networks = np.concatenate([of_sets, of_networks])
            networks, classes = self._fit_attackable(X, y, masks, of_networks)
        self.networks_, self.networks_left_out_, self.classes_ = networks, of_networks, classes
        self.grid_, self.windows_ = grid.shape, masks.reshape(-1, height, width)
        self.left_out_, self.n_features_in_ = left_out, int(np.prod(self.image_shape))
        sides = " or ".join(f"{tall} x {wide}" for tall, wide in shapes)
        trusted = (TRAINING_IMAGES if self.trusts_training else OTHER_PLACES,)
        self.counts_ = Counts(f"patches of {sides} pixels", int(self.n_patches), trusted)
        return self

    def predict(self, X: TableLike) -> Array:
        """Predict class labels, asking no more models than needed.

        Parameters
        ----------
        X : array-like of shape (n_images, height * width * channels)
            Flattened images.

        Returns
        -------
        array of shape (n_images,)
            Labels, as given to fit.
        """
        (labels,), _ = self._settle(X, "predicted", lambda votes: (votes.labels(),))
        return np.asarray(self.classes_[labels])

    def certify(self, X: TableLike) -> Certificates:
        """Predict each image and count the patches that cannot change it.

        Parameters
        ----------
        X : array-like of shape (n_images, height * width * channels)
            Flattened images.

        Returns
        -------
        Certificates
            ``radius`` counts patches, from 0 to ``n_patches``. There is no runner-up: models are
            asked until prediction and radius are settled, not all of them.
        """
        started = time.perf_counter()
        (labels, radius), questions = self._settle(X, "certified", SettledVotes.certify)
        n_images = max(1, len(labels))
        self.seconds_per_image_ = (time.perf_counter() - started) / n_images
        self.evaluations_per_image_ = float(questions / n_images)
        return Certificates(np.asarray(self.classes_[labels]), radius, None, self.counts_)

    @property
    def trusts_training(self) -> bool:
        return isinstance(self.networks_[0], WindowNetwork)  # `training` may be set anew

    @property
    def covers(self) -> tuple[str, ...]:
        """What the certificates cover, in the words of partita.compare."""
        return ("patch",) if self.trusts_training else ("patch", "patch at its place in training")

    def _settle(
        self, X: TableLike, verb: str, settle: Callable[[SettledVotes], tuple[Array, ...]]
    ) -> tuple[list[Array], int]:
        """Ask about some images at a time; return arrays with one entry per image, and a count."""
        check_is_fitted(self, "networks_")
        images = as_images(X, self.networks_[0].image_shape)
        found, questions = [], 0
        progress = Progress(verb, len(images), "images", enabled=bool(self.verbose))
        with deterministic_algorithms(self.deterministic), progress:
            for start in range(0, max(1, len(images)), IMAGES_AT_ONCE):
                own = images[start : start + IMAGES_AT_ONCE]
                votes = SettledVotes(self._votes(own), len(own), self.left_out_, self.counts_.total)
                found.append(settle(votes))
                questions += int(votes.questions.sum())
                progress.update(start + len(own))
        return [np.concatenate(parts) for parts in zip(*found, strict=True)], questions

    def _votes(self, images: Array) -> Callable[[Array, Array], Array]:
        """Return what answers questions about these images (images, pixels, channels)."""
        n_models, n_windows = self.left_out_.shape
        if self.trusts_training:
            sets = np.nonzero(self.left_out_)[1].reshape(n_models, -1)
            networks = [one for one in self.networks_ if isinstance(one, WindowNetwork)]
            return TrustedVotes(networks, images, sets, n_windows)
        of_networks = self.networks_left_out_
        members = [self.networks_[k :: len(of_networks)] for k in range(len(of_networks))]
        # a model is the mean of the networks that see nothing of its windows
        pools = [np.flatnonzero(of_networks[:, own].all(axis=1)) for own in self.left_out_]
        whole = np.array([len(of_networks) - 1])
        return AttackableVotes(members, [*pools, whole], images.reshape(-1, self.n_features_in_))

    def _windows_per_network(self, n_windows: int) -> int:
        """How many windows a network leaves out."""
        least = 2 * int(self.n_patches)
        if self.leave_out is None:
            return least
        check_whole("leave_out", self.leave_out, least)
        if self.leave_out >= n_windows:
            raise InputError(
                f"leave_out is {self.leave_out}, but there are {n_windows} windows, of which a "
                f"network must see some: lower it, to {n_windows - 1} or below"
            )
        return int(self.leave_out)

    def _fit_trusted(
        self, X: TableLike, y: ArrayLike, masks: Array, recipe: Recipe
    ) -> tuple[list[MaskedSubmodel], Array]:
        """One network for each member."""
        images, classes, codes = labelled_images(X, y, self.image_shape)
        device, n_masked = choose_device(self.device), 2 * int(self.n_patches)
        networks: list[MaskedSubmodel] = [
            WindowNetwork(
                masks, n_masked, self.image_shape, classes, self.network, recipe, seed, device
            )
            for seed in torch_seeds(int(self.random_state), int(self.members))
        ]
        fit_in_turn(networks, images, codes, self)
        return networks, classes

    def _fit_attackable(
        self, X: TableLike, y: ArrayLike, masks: Array, left_out: Array
    ) -> tuple[list[MaskedSubmodel], Array]:
        """One network for each set of left-out windows and member, on the other pixels."""
        pixels = [np.flatnonzero(own) for own in ~(left_out @ masks)]
        if min(map(len, pixels)) == 0:
            raise InputError(
                f"windows is {self.windows!r}: a network that leaves out {left_out[0].sum()} of "
                "them sees nothing of the image: give more windows, smaller patches, or a smaller "
                "leave_out"
            )
        in_turn = MaskedImageClassifier(
            self.image_shape,
            self.network,
            **self._settings(),
            **self._computing(),
        )
        sets = [own.tolist() for own in pixels] * int(self.members)
        seeds = torch_seeds(int(self.random_state), len(sets))
        images = labelled_images(X, y, self.image_shape)
        return list(in_turn._train(sets, images, seeds)), images[1]

    def _check_parameters(self) -> None:
        for name in ("n_patches", "members"):
            check_whole(name, getattr(self, name), 1)
        if self.training not in ("trusted", "attackable"):
            raise InputError(f"training is {self.training!r}: give 'trusted' or 'attackable'")
        if self.training == "trusted" and self.leave_out is not None:
            raise InputError(
                "leave_out is for training='attackable': a network that is trusted stands in for "
                "all models, so leave it out"
            )
        check_whole("random_state", self.random_state, 0)
