"""A deployment holds what it is given."""

import dataclasses

import pytest


def test_a_deployment_cannot_be_changed(cancer):
    with pytest.raises(dataclasses.FrozenInstanceError):
        cancer.radius = 2


def test_a_source_is_a_source_unless_it_has_a_name(cancer):
    assert (cancer.source, cancer.radius, cancer.trusted, cancer.tolerance) == (
        "source",
        1,
        (),
        None,
    )
