"""Where parties are asked: no spelling of an address makes two votes of one party.

What a look-up cannot show, such as two names of a proxy, the parties' own answers show.
"""

import itertools
import json
import random
import secrets
import socket
import threading
import time

import numpy as np
import pytest

from partita import InputError, SoundnessWarning
from partita.serve import Federation, Party
from partita.serve.federation import _parties
from partita.serve.federation._parties import check_parties

from ..client import server
from .federated import KEYS, fitted, parties, parties_toml
from .strangers import party, redirects, relay, stranger, strangers

CLASSES = ["ill", "well"]
HOSTS = [
    "localhost",
    "LocalHost",
    "localhost.",
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.0.1",
    "0177.0.0.1",
    "0x7f.1",
    "0x7f000001",
    "2130706433",
    "017700000001",
    "127.0.0.2",
    "0",
    "0.0.0.0",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000::0001]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::FFFF:7f00:1]",
]
PATHS = {
    "": ["", "/", "//", "/.", "/./", "/x/..", "/%2e", "/%2E%2e/", "/a/../", "/?", "/#", "/%252e"],
    "x/y": [
        "/x/y",
        "//x/y/",
        "/x//y",
        "/./x/y",
        "/x/./y",
        "/x/z/../y",
        "/%78/y",
        "/x%2fy",
        "/../x/y",
    ],
}


def spellings(path, port=8771):
    return [f"http://{host}:{port}{end}" for host in HOSTS for end in PATHS[path]]


@pytest.fixture
def looked_up_once(monkeypatch):
    """Real answers of the look-up, kept: some names take it a while."""
    real, kept = socket.getaddrinfo, {}

    def look_up(*question, **more):
        if question not in kept:
            try:
                kept[question] = real(*question, **more)
            except OSError as exc:
                kept[question] = exc
        if isinstance(kept[question], OSError):
            raise kept[question]
        return kept[question]

    monkeypatch.setattr(_parties.socket, "getaddrinfo", look_up)


@pytest.mark.usefixtures("looked_up_once")
@pytest.mark.parametrize("path", PATHS)
def test_two_spellings_of_an_address_are_refused(path):
    addresses = spellings(path)
    assert len(addresses) > 150
    pairs = random.Random(0).sample(list(itertools.combinations(addresses, 2)), 1000)
    for one, other in pairs:
        with pytest.raises(InputError, match="have the same address") as caught:
            check_parties([Party("A", one), Party("B", other)])
        assert "list each party once" in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.example", "http://A.example.:80/"),
        ("https://a.example", "https://a.example:443"),
        ("http://a.example:443", "https://a.example"),
        ("http://a.example:0080", "http://a.example:80"),
        ("http://192.0.2.1", "http://192.0.513"),
        ("http://192.0.2.1", "http://3221225985"),
        ("http://192.0.2.1", "http://[::ffff:c000:201]"),
        ("http://[2001:db8::1]", "http://[2001:0DB8:0::0:1]:80"),
        ("http://a.example/%7Ex", "http://a.example/~x"),
    ],
)
def test_so_are_those_of_names_that_are_not_found(one, other):
    with pytest.raises(InputError, match="have the same address"):
        check_parties([Party("A", one), Party("B", other)])


def test_other_places_are_other_parties():
    addresses = [
        f"http://{host}:{port}{path}"
        for host in ("127.0.0.1", "192.0.2.1", "192.0.2.2", "[2001:db8::1]", "a.example")
        for port in (80, 443, 8771)
        for path in ("", "/x", "/X", "/x/y", "/y/x", "/x.", "/..x", "/x;y", "/%ff", "/%fe")
    ]
    assert len(check_parties([Party(one, one) for one in addresses])) == 150


def test_names_are_looked_up(monkeypatch):
    """All addresses of each are compared, and a name server that does not answer stops nothing."""
    known = {
        "a.example": ["192.0.2.1", "2001:db8::1"],
        "b.example": ["192.0.2.2", "2001:DB8:0::1"],
        "c.example": ["192.0.2.2"],
    }
    real, silent = socket.getaddrinfo, threading.Event()

    def look_up(host, *rest, **more):
        if host == "slow.example":
            silent.wait(20)
        if host not in known:
            return real("127.0.0.9", *rest, **more)
        return [(0, 0, 0, "", (address, 0)) for address in known[host]]

    monkeypatch.setattr(_parties.socket, "getaddrinfo", look_up)
    names = ["a.example", "b.example", "c.example", "slow.example"]
    a, b, c, slow = (Party(name, f"https://{name}") for name in names)
    for pair in ([a, b], [b, c], [c, b]):
        with pytest.raises(InputError, match="have the same address"):
            check_parties(pair)
    before = time.monotonic()
    assert check_parties([a, c, slow], 0.1) == (a, c, slow)
    assert time.monotonic() - before < 5
    silent.set()


# ---- what parties answer ----

ILL, WELL = [0.0, -5.0], [-5.0, 0.0]


def federation(addresses, **settings):
    listed = [Party(f"clinic {k}", one) for k, one in enumerate(addresses)]
    return Federation(listed, classes=CLASSES, rule="plurality", timeout=20, **settings)


def test_a_party_behind_a_proxy_is_one_party_with_two_ballots():
    """It has two of three votes; owning it changes everything."""
    honest = [party(secret, CLASSES, ILL) for secret in (b"a", b"b", b"c", b"d")]
    with strangers(*honest) as addresses, relay(addresses[0]) as second:
        asked = federation([*addresses[:2], second])
        with pytest.warns(SoundnessWarning, match="'clinic 0' and 'clinic 2' answered with the sa"):
            proof = asked.certify(["a"])
        assert (proof.prediction.tolist(), proof.radius.tolist()) == (["ill"], [0])
        assert (proof.counts.what, proof.counts.total) == ("parties", 2)
        assert asked.ask(["a"]).identities == (0, 1, 0)
        with pytest.warns(SoundnessWarning):
            assert federation([*addresses, second]).certify(["a"]).radius.tolist() == [1]
        apart = federation(addresses)
        assert apart.certify(["a"]).radius.tolist() == [2]
        assert apart.certify(["a"]).counts.total == 4


def test_what_was_shown_once_is_not_taken_back():
    """A party that was taken over makes up another secret, or falls silent at one address."""
    secret = [b"a", b"a", b"c"]

    def speaks(k):
        return lambda connection, request, keys: party(secret[k], CLASSES, ILL)(
            connection, request, keys
        )

    with strangers(*map(speaks, range(3))) as addresses:
        asked = federation(addresses)
        with pytest.warns(SoundnessWarning):
            assert asked.certify(["a"]).radius.tolist() == [0]
        secret[1] = b"made up"
        assert asked.ask(["a"]).identities == (0, 0, 2)
        assert asked.certify(["a"]).radius.tolist() == [0]
        secret[1], secret[2] = b"z", b"z"  # one party with the second is one with both
        with pytest.warns(SoundnessWarning):
            assert asked.ask(["a"]).identities == (0, 0, 0)
        assert asked.certify(["a"]).counts.total == 1


def test_identities_never_move_a_prediction():
    """A liar that relays another's identity lowers the radius, and moves no ballot but its own."""
    rng = np.random.default_rng(0)
    asked = federation([f"http://127.0.0.1:{k + 1}" for k in range(7)])
    ballots = rng.normal(size=(1000, 7, 2)).astype(np.float32)
    ballots[rng.random((1000, 7)) < 0.2] = np.nan
    expected = asked.vote.certify(ballots)
    for _ in range(20):
        identities = tuple(rng.integers(0, 7, 7).tolist())
        proof = asked.vote.certify(ballots, identities=identities)
        assert (proof.prediction == expected.prediction).all()
        assert (proof.radius <= expected.radius).all()
        assert proof.counts.total == len(set(identities))


def test_challenges_are_fresh_and_the_same_for_all():
    seen = []

    def speak(connection, request, keys):
        seen.append(json.loads(request.partition("\r\n\r\n")[2])["challenge"])
        party(secrets.token_bytes(8), CLASSES, ILL)(connection, request, keys)

    with strangers(speak, speak, speak) as addresses:
        asked = federation(addresses)
        for _ in range(3):
            assert asked.ask(["a"]).reasons == ("", "", "")
    assert [len(set(seen[k : k + 3])) for k in (0, 3, 6)] == [1, 1, 1]
    assert len(set(seen)) == 3


def test_nobody_is_sent_elsewhere():
    """A redirect is silence: otherwise one party would answer for two."""
    with strangers(party(b"a", CLASSES, ILL)) as (address,), stranger(redirects(address)) as moved:
        answers = federation([address, moved]).ask(["a"])
    assert answers.reasons == ("", "an answer with status 307")
    assert np.isnan(answers.ballots[0, 1]).all()


def test_every_spelling_that_leads_to_a_party_is_refused_or_counts_once():
    """Asked for real: what the look-up lets pass, the challenge finds."""
    with strangers(party(b"a", CLASSES, ILL)) as (address,), relay(address) as second:
        port = int(address.rpartition(":")[2])
        others = [*spellings("", port), second, f"http://127.0.0.1:{port}/elsewhere"]
        refused = merged = 0
        for other in others:
            try:
                asked = federation([address, other])
            except InputError:
                refused += 1
                continue
            with pytest.warns(SoundnessWarning):
                assert asked.certify(["a"]).counts.total == 1
            merged += 1
    assert (refused, merged) == (len(others) - 2, 2)


@pytest.mark.long
def test_real_parties_in_several_processes(tmp_path):
    """All workers of a party have one identity, and a proxy in front of it has no other."""
    model = fitted(3)
    with parties(model, tmp_path, 2, workers=2) as running:
        addresses = [str(client.base_url) for client, *_ in running]
        with relay(addresses[0]) as second:
            file = parties_toml(tmp_path / "parties.toml", [*addresses, second], timeout=30)
            log = tmp_path / "coordinator.log"
            with server(None, log, parties=str(file)) as (client, *_):
                for k in range(20):
                    told = client.post("/certify", json={"keys": KEYS[k : k + 3]}).json()
                    assert [one["same_as"] for one in told["parties"]] == [None, None, "clinic 0"]
                    assert [one["silent"] for one in told["parties"]] == [None] * 3
                    assert told["counts"]["total"] == 2
                    assert {row["radius"] for row in told["rows"]} == {0}
            said = log.read_text().count("answered with the same identity")
    assert said == 1
