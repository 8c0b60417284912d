"""A trained network in a file: kept whole, and believed only if it is the same."""

import pytest
import torch

from partita import InputError
from partita.vision._runtime import Checkpoint, training_environment

STATE = {"weights": {"head": torch.arange(3.0)}}
CPU = torch.device("cpu")
HERE = training_environment(CPU, True)


def checkpoint(path, fingerprint="same", environment=HERE, version=1):
    return Checkpoint(path, version, lambda: fingerprint, environment, cure="remove the folder")


def test_what_was_saved_is_used(tmp_path):
    file, used = checkpoint(tmp_path / "new" / "0001.pt"), []
    assert file.resume(used.append, CPU) == 0
    file.save(7, lambda: STATE, last=True)
    assert file.resume(used.append, CPU) == 7
    assert torch.equal(used[0]["weights"]["head"], STATE["weights"]["head"])


def test_without_a_path_nothing_is_kept_and_no_fingerprint_taken():
    file = Checkpoint(None, 1, pytest.fail, HERE)
    file.save(7, pytest.fail, last=True)
    assert file.resume(pytest.fail, CPU) == 0


def test_other_networks_and_damaged_files_are_refused(tmp_path):
    path = tmp_path / "0001.pt"
    checkpoint(path).save(7, lambda: STATE, last=True)
    message = "belongs to other images, labels, columns, seeds or settings: remove the folder, or"
    with pytest.raises(InputError, match=message):
        checkpoint(path, "other").resume(pytest.fail, CPU)
    with pytest.raises(InputError, match="written by another version of partita: remove it"):
        checkpoint(path, version=2).resume(pytest.fail, CPU)
    with pytest.raises(InputError, match=r"0001.pt' is damaged \(KeyError\): remove it"):
        checkpoint(path).resume(lambda state: state["body"], CPU)
    path.write_bytes(b"")
    with pytest.raises(InputError, match=r"0001.pt' cannot be read .* remove it"):
        checkpoint(path).resume(pytest.fail, CPU)


@pytest.mark.parametrize(
    ("name", "other"),
    [("deterministic", False), ("device", "NVIDIA H200"), ("torch", "1.0"), ("threads", 64)],
)
def test_networks_of_another_environment_are_refused(tmp_path, name, other):
    """Training here gives other bits, and the proof is about a model that training reproduces."""
    path = tmp_path / "0001.pt"
    checkpoint(path, environment=HERE | {name: other}).save(7, lambda: STATE, last=True)
    with pytest.raises(InputError, match=f"was trained with {name}={other!r}, and here it is"):
        checkpoint(path).resume(pytest.fail, CPU)
