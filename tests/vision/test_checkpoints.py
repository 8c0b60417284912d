"""Trained networks in a folder: kept whole, and believed only if they are the same."""

import pytest
import torch

from partita import InputError
from partita.vision._runtime import NetworkFolder, training_environment

WEIGHTS = {"head": torch.arange(3.0)}
HERE = training_environment(torch.device("cpu"), True)


def test_what_was_saved_is_used(tmp_path):
    folder, used = NetworkFolder(tmp_path / "new", HERE), []
    assert not folder.load("0001", lambda: "same", used.append)
    folder.save("0001", lambda: "same", WEIGHTS)
    assert folder.load("0001", lambda: "same", used.append)
    assert torch.equal(used[0]["head"], WEIGHTS["head"])


def test_without_a_path_nothing_is_kept_and_no_fingerprint_taken():
    folder = NetworkFolder(None, HERE)
    folder.save("0001", pytest.fail, WEIGHTS)
    assert not folder.load("0001", pytest.fail, pytest.fail)


def test_other_networks_and_damaged_files_are_refused(tmp_path):
    folder = NetworkFolder(tmp_path, HERE)
    folder.save("0001", lambda: "same", WEIGHTS)
    with pytest.raises(InputError, match="belongs to other images, labels, columns, seeds or"):
        folder.load("0001", lambda: "other", pytest.fail)
    with pytest.raises(InputError, match=r"0001.pt' cannot be read \(KeyError\): remove it"):
        folder.load("0001", lambda: "same", lambda weights: weights["body"])
    (tmp_path / "0001.pt").write_bytes(b"")
    with pytest.raises(InputError, match=r"0001.pt' cannot be read .* remove it"):
        folder.load("0001", lambda: "same", pytest.fail)


@pytest.mark.parametrize(
    ("name", "other"),
    [("deterministic", False), ("device", "NVIDIA H200"), ("torch", "1.0"), ("threads", 64)],
)
def test_networks_of_another_environment_are_refused(tmp_path, name, other):
    """Training here gives other bits, and the proof is about a model that training reproduces."""
    NetworkFolder(tmp_path, HERE | {name: other}).save("0001", lambda: "same", WEIGHTS)
    with pytest.raises(InputError, match=f"was trained with {name}={other!r}, and here it is"):
        NetworkFolder(tmp_path, HERE).load("0001", lambda: "same", pytest.fail)
