"""ServeSettings that cannot work are refused before a model is loaded for them."""

import dataclasses
import inspect

import pytest

from partita import InputError, serve
from partita.serve._settings import ServeSettings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"port": 70000}, "port is 70000"),
        ({"workers": 0}, "workers is 0: it must be a number from 1 to 64"),
        ({"workers": 65}, "workers is 65"),
        ({"header_seconds": 0.0}, "header_seconds is 0.0: it must be a number, 1 or above"),
        ({"drain_seconds": -1.0}, "drain_seconds is -1.0: it must be a number, 0 or above"),
        ({"finish_seconds": float("nan")}, "finish_seconds is nan"),
        ({"max_waiting": 0}, "max_waiting is 0"),
        ({"body_seconds": 0.0}, "body_seconds is 0.0: both must be above 0|max_waiting is 256"),
        ({"tls_cert": "cert.pem"}, "tls_cert and tls_key belong together"),
        ({"tls_cert": "cert.pem", "tls_key": "key.pem"}, "cannot be used .*: give a certificate"),
        ({"token": ""}, "token is empty"),
    ],
)
def test_wrong_settings_are_one_sentence(settings, message, tmp_path):
    with pytest.raises(InputError, match=message):
        serve.run(tmp_path, **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "give a stored model to serve, or parties"),
        ({"model_path": "m", "parties": "p"}, "give a stored model to serve, or parties"),
        ({"model_path": "m", "submodel": "1"}, "a party needs its own table and the column"),
        ({"model_path": "m", "table": "t"}, "give table and key"),
        ({"model_path": "m", "key": "id"}, "give table and key"),
        ({"model_path": "m", "table": "t", "key": "k", "silent": ["A"]}, "is not for a party"),
        ({"model_path": "m", "table": "t", "key": "k", "tolerance": 1.0}, "not for a party"),
        ({"model_path": "m", "table": "t", "key": "k", "label_sets": 1}, "not for a party"),
        ({"parties": "p", "label_sets": 1}, "label_sets is not for a coordinator: write it into"),
        ({"parties": "p", "relative": 0.1}, "relative is not for a coordinator: write it into"),
        ({"parties": "p", "silent": "detect"}, "silent is not for a coordinator: leave it out"),
        ({"parties": "p", "table": "t", "key": "k"}, "table is not for a coordinator"),
    ],
)
def test_a_model_a_party_and_a_coordinator_have_settings_of_their_own(settings, message):
    with pytest.raises(InputError, match=message):
        ServeSettings(**{"model_path": None} | settings).check()


def test_the_token_is_in_no_text():
    assert "s3cret" not in repr(ServeSettings("model", token="s3cret"))


def test_run_and_the_settings_have_the_same_names_and_defaults():
    given = {name: one.default for name, one in inspect.signature(serve.run).parameters.items()}
    assert given.pop("host") == "127.0.0.1"  # an application in another server takes any
    settings = {one.name: one.default for one in dataclasses.fields(ServeSettings)}
    assert given == {name: settings[name] for name in given}
    assert {*settings} - {*given} == {"host", "secret"}
