"""Findings that would void a proof."""

import pytest

from partita import SoundnessError, SoundnessWarning
from partita._support import warn_or_raise


def test_a_finding_is_a_warning_that_points_at_whoever_found_it():
    with pytest.warns(SoundnessWarning, match="shared rows") as caught:
        warn_or_raise("shared rows", strict=False)
    assert caught[0].filename == __file__


def test_a_finding_is_an_error_for_the_strict():
    with pytest.raises(SoundnessError, match="shared rows"):
        warn_or_raise("shared rows", strict=True)
