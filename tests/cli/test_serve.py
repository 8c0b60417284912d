"""``partita serve`` hands its options to the service; the service has tests of its own."""

from partita import serve


def test_options_reach_the_service(partita, model, monkeypatch):
    given = {}
    monkeypatch.setattr(
        serve, "run", lambda path, **settings: given.update(path=path, **settings), raising=False
    )
    monkeypatch.setenv("PARTITA_TOKEN", "s3cret")
    code, _, _ = partita(
        *("serve", model, "--host", "0.0.0.0", "--port", 0, "--max-rows", 7),
        *("--trust", "own.Own", "--workers", 3, "--allow-host", "models.example"),
        *("--low-radius", 2, "--request-log", "-", "--silent", "detect", "--label-sets", 2),
    )
    assert code == 0
    assert given == {
        "path": model,
        "host": "0.0.0.0",
        "port": 0,
        "token": "s3cret",
        "tolerance": None,
        "relative": None,
        "trusted": ("own.Own",),
        "max_rows": 7,
        "max_bytes": 1_000_000,
        "max_waiting": 256,
        "body_seconds": 10.0,
        "header_seconds": 10.0,
        "drain_seconds": 1.0,
        "finish_seconds": 10.0,
        "api_keys": None,
        "allowed_hosts": ("models.example",),
        "low_radius": 2,
        "request_log": "-",
        "workers": 3,
        "tls_cert": None,
        "tls_key": None,
        "silent": "detect",
        "label_sets": 2,
        "submodel": None,
        "table": None,
        "key": None,
        "parties": None,
    }


def test_options_of_parties_reach_the_service(partita, model, monkeypatch, tmp_path):
    given = {}
    monkeypatch.setattr(
        serve, "run", lambda path, **settings: given.update(path=path, **settings), raising=False
    )
    table = tmp_path / "own.csv"
    code, _, _ = partita("serve", model, "--submodel", "2", "--table", table, "--key", "id")
    assert code == 0
    assert given["path"] == model
    assert [given[name] for name in ("submodel", "table", "key", "parties")] == [
        *("2", table, "id", None)
    ]
    code, _, _ = partita("serve", "--parties", tmp_path / "parties.toml")
    assert code == 0
    assert (given["path"], given["parties"]) == (None, tmp_path / "parties.toml")


def test_nothing_to_serve_is_one_sentence(partita, model, tmp_path):
    for arguments in ([], [model, "--parties", tmp_path / "parties.toml"]):
        code, _, err = partita("serve", *arguments)
        assert code == 2
        assert "give a stored model to serve, or parties (--parties FILE) to ask" in err
    code, _, err = partita("serve", "--parties", tmp_path / "parties.toml")
    assert (code, "does not exist: give a .toml file" in err) == (2, True)


def test_a_port_that_does_not_exist_is_refused(partita, model):
    code, _, err = partita("serve", model, "--port", 70000)
    assert (code, "--port" in err) == (2, True)
