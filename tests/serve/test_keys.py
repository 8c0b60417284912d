"""Keys may change while the service runs; only hashes of them are held."""

import hashlib
import pickle
import time

import pytest

from partita import InputError, serve, store
from partita.serve import _security
from partita.serve._security import Keys

from .client import CANCER, ask, refused, rows_of, server

OLD, NEW = "old-key-0123456789abcdef", "new-key-0123456789abcdef"


def hashed(key):
    return f"sha256:{hashlib.sha256(key.encode()).hexdigest()}"


def write(path, text):
    """As an administrator should: the file is there as a whole, or not at all."""
    other = path.with_suffix(".new")
    other.write_text(text)
    other.replace(path)


def test_keys_are_known_by_name(tmp_path):
    path = tmp_path / "keys"
    write(path, f"# clients\n\n  billing {OLD}\nbilling {hashed(NEW.upper())}\nlab.2 {NEW}\n")
    keys = Keys("the-token", path)
    assert keys.name_of(OLD.encode()) == "billing"
    assert keys.name_of(NEW.upper().encode()) == "billing"
    assert keys.name_of(NEW.encode()) == "lab.2"
    assert keys.name_of(b"the-token") == "token"
    for wrong in (b"", b"billing", OLD[:-1].encode(), hashed(OLD).encode(), b"\xff"):
        assert keys.name_of(wrong) is None
    held = pickle.dumps(keys)
    assert OLD.encode() not in held
    assert NEW.encode() not in held
    assert b"the-token" not in held
    assert not Keys()
    assert Keys("token")


@pytest.mark.long
def test_keys_are_rotated_without_a_restart(classifier, folder, tmp_path):
    path, log = tmp_path / "keys", folder / "rotated.log"
    write(path, f"lab {OLD}\n")
    model = store.save(classifier, folder / "rotated")
    body = {"rows": rows_of(CANCER[:1])}
    with server(model, log, api_keys=str(path)) as (client, _, _):

        def status(key):
            return client.post(
                "/certify", json=body, headers={"Authorization": f"Bearer {key}"}
            ).status_code

        assert (status(OLD), status(NEW)) == (200, 401)
        for text, expected in [
            (f"lab {OLD}\nlab {hashed(NEW)}\n", (200, 200)),
            ("lab short\n", (200, 200)),  # a mistake: the last good keys stay
            (f"lab {hashed(NEW)}\n", (401, 200)),
        ]:
            write(path, text)
            time.sleep(_security.SECONDS_BETWEEN_LOOKS + 0.1)
            assert (status(OLD), status(NEW)) == expected
        path.unlink()
        time.sleep(_security.SECONDS_BETWEEN_LOOKS + 0.1)
        assert (status(OLD), status(NEW)) == (401, 200)
        refused(client.post("/certify", json=body), 401, "the token is missing or wrong")
        assert client.get("/health").status_code == 200
    told = log.read_text()
    assert "line 1 of the key file" in told
    assert "the keys that were read before stay in force" in told
    assert OLD not in told
    assert NEW not in told


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no key"),
        ("# nothing\n", "holds no key"),
        (f"{OLD}\n", "line 1 of the key file .* is not a name and a key"),
        (f"lab {OLD} more\n", "is not a name and a key"),
        (f"l@b {OLD}\n", "is not a name and a key"),
        ("lab short\n", "has a key of 5 characters: give at least 16"),
        ("lab sha256:123\n", "has no valid hash"),
    ],
)
def test_a_file_of_keys_that_is_not_valid_is_one_sentence(classifier, tmp_path, text, message):
    path = tmp_path / "keys"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as told:
        serve.make_app(classifier, api_keys=path)
    assert OLD not in str(told.value)
    with pytest.raises(InputError, match="cannot be read"):
        serve.run(tmp_path, api_keys=tmp_path / "none")


def test_every_key_is_compared(tmp_path, monkeypatch):
    """Time tells neither whether a key is right nor where it stands."""
    path, compared = tmp_path / "keys", []
    path.write_text(f"a {OLD}\nb {NEW}\nc {hashed('x')}\n")
    keys = Keys("token", path)
    compare = _security.hmac.compare_digest
    monkeypatch.setattr(
        _security.hmac, "compare_digest", lambda a, b: compared.append(b) or compare(a, b)
    )
    for key in (OLD, "nobody's", "token"):
        compared.clear()
        keys.name_of(key.encode())
        assert len(compared) == 4


def test_a_key_is_enough_for_any_host(classifier, tmp_path):
    path = tmp_path / "keys"
    path.write_text(f"lab {OLD}\n")
    app = serve.make_app(classifier, api_keys=path, host="127.0.0.1")
    assert ask(app, b"", "/health", "GET", "models.example").status_code == 200
