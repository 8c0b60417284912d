"""Settings that cannot work are refused before a model is loaded for them."""

import pytest

from partita import InputError, serve
from partita.serve._service import Limits
from partita.serve._settings import RunSettings


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


def test_the_token_is_in_no_text():
    assert "s3cret" not in repr(RunSettings("model", token="s3cret"))


def test_limits_have_one_home():
    assert Limits() == RunSettings("model").limits
