"""The errors' tree, and errors that travel between processes."""

import pickle

import pytest

from partita import errors


def test_every_error_is_a_partita_error_and_every_warning_a_user_warning():
    for name in errors.__all__:
        root = UserWarning if name.endswith("Warning") else errors.PartitaError
        assert issubclass(getattr(errors, name), root)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("InputError", (ValueError,)),
        ("SubmodelError", (ValueError, TypeError)),
        ("StoreError", (ValueError,)),
        ("SoundnessError", (ValueError,)),
        ("MissingExtraError", (ImportError,)),
    ],
)
def test_an_error_is_also_what_python_would_raise(name, kinds):
    assert all(issubclass(getattr(errors, name), kind) for kind in kinds)
    assert name in errors.__doc__


def test_a_missing_extra_survives_a_process_boundary():
    error = errors.MissingExtraError("matplotlib", "a plot", "partita[plot]")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert str(again).endswith("pip install 'partita[plot]'")  # a shell would expand brackets
    assert str(errors.MissingExtraError("pandas", "x", "pandas")).endswith("pip install pandas")
