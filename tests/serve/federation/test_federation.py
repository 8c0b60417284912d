"""A federation: whatever parties do, they move their own ballots and no others."""

import asyncio
import threading
import time

import numpy as np
import pytest

from partita import InputError
from partita.serve import Federation, Party
from partita.serve.federation._client import Reply
from partita.serve.federation._federation import check_keys

from .strangers import answer, dripping, endless, hangs_up, late, plain, says, strangers, votes

CLASSES = ["ill", "well"]
ILL, WELL = [0.0, -5.0], [-5.0, 0.0]


def federation(addresses, **settings):
    parties = [Party(f"clinic {k}", one) for k, one in enumerate(addresses)]
    return Federation(
        parties, **{"classes": CLASSES, "rule": "plurality", "timeout": 1.0} | settings
    )


def test_ballots_are_those_of_their_party_and_row():
    def by_key(k):
        def speak(connection, head, keys):
            rows = [None if key == "none" else [k, int(key)] for key in keys]
            connection.sendall(answer(CLASSES, rows))

        return speak

    with strangers(*(late((3 - k) / 10, by_key(k)) for k in range(4))) as addresses:
        ballots = federation(addresses, timeout=20).ballots(["7", "none", 9])
    assert ballots.dtype == np.float32
    for k in range(4):
        assert ballots[[0, 2], k].tolist() == [[k, 7], [k, 9]]
        assert np.isnan(ballots[1, k]).all()


@pytest.mark.parametrize(
    "speak",
    [
        late(30, votes(CLASSES, WELL)),
        dripping(answer(CLASSES, [WELL])),
        endless,
        hangs_up,
        votes(["well", "ill"], WELL),
        votes(CLASSES, [0.0]),
        votes(None, 1.0),
        says(answer(CLASSES, [WELL] * 5)),
        says(plain(b"garbage")),
        says(plain(b"x" * 100_000)),
    ],
    ids=["late", "slow", "endless", "cut", "other", "shape", "value", "rows", "text", "huge"],
)
def test_a_bad_answer_is_silence(speak):
    """Not a ballot of zeros, and not half of what was sent."""
    honest = votes(CLASSES, ILL)
    with strangers(honest, speak, honest, honest) as addresses:
        asked = federation(addresses)
        start = time.monotonic()
        answers = asked.ask(["a", "b"])
        assert time.monotonic() - start < 10
    assert np.isnan(answers.ballots[:, 1]).all()
    assert answers.ballots[:, [0, 2, 3]].tolist() == [[ILL] * 3] * 2
    assert [bool(reason) for reason in answers.reasons] == [False, True, False, False]
    proof = asked.vote.certify(answers.ballots)
    assert proof.prediction.tolist() == ["ill"] * 2
    # three of four answer: one liar leaves two against one, and the silent one may speak up
    assert proof.radius.tolist() == [1, 1]
    assert proof.silence.units.tolist() == [[False, True, False, False]] * 2


def test_certified_rows_survive_a_liar_and_a_silent_party():
    honest = votes(CLASSES, ILL)
    with strangers(*[honest] * 5) as addresses:
        proof = federation(addresses).certify([1])
    assert proof.radius.tolist() == [2]
    with strangers(honest, votes(CLASSES, WELL), honest, hangs_up, honest) as addresses:
        again = federation(addresses).certify([1])
    assert again.prediction.tolist() == proof.prediction.tolist()


def test_values():
    with strangers(votes(None, 1.0), votes(None, 3.0), votes(None, 2.0)) as addresses:
        asked = federation(addresses, classes=None, rule=None)
        assert asked.ballots(["a"]).tolist() == [[1.0, 3.0, 2.0]]
        assert asked.predict(["a"]).tolist() == [2.0]
        proof = asked.certify(["a"], tolerance=1.0)
    assert proof.of_values
    assert proof.prediction.tolist() == [2.0]
    with pytest.raises(InputError, match="certify needs to know what must hold"):
        asked.certify(["a"])


def test_questions_at_the_same_time_do_not_mix():
    """Answers come in any order; each holds its own keys."""

    def speak(connection, head, keys):
        time.sleep(0.05 * (int(keys[0]) % 4))
        connection.sendall(answer(CLASSES, [[float(key), 0.0] for key in keys]))

    found = {}

    def question(asked, k):
        found[k] = asked.ballots([k, k + 100])

    with strangers(speak, speak) as addresses:
        asked = federation(addresses, timeout=30)
        threads = [threading.Thread(target=question, args=(asked, k)) for k in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for k in range(20):
        assert found[k][:, :, 0].tolist() == [[k, k], [k + 100, k + 100]]


def test_it_can_be_asked_inside_an_event_loop():
    with strangers(votes(CLASSES, ILL)) as addresses:
        asked = federation(addresses)

        async def inside():
            return asked.predict(["a"]).tolist(), (await asked.submit(["a"])).reasons

        assert asyncio.run(inside()) == (["ill"], ("",))


def test_a_reply_without_a_reason_is_read(monkeypatch):
    asked = federation(["http://127.0.0.1:1"])
    good = answer(CLASSES, [ILL]).partition(b"\r\n\r\n")[2]
    answers = asked._understood([Reply(good, "", 0.5)], 1)
    assert (answers.reasons, answers.seconds) == (("",), (0.5,))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ([], "keys is empty"),
        ("abc", "give a list of keys"),
        (5, "give a list of keys"),
        ([1.5], "key 0 is 1.5: a key must be a text or a whole number"),
        (["a", True], "key 1 is True"),
        ([None], "key 0 is None"),
    ],
)
def test_keys_that_cannot_be_asked_for(keys, message):
    with pytest.raises(InputError, match=message):
        check_keys(keys)


def test_keys_are_texts():
    assert check_keys(["a", 7, np.int64(8)]) == ["a", "7", "8"]
    assert check_keys(np.array([1, 2])) == ["1", "2"]


@pytest.mark.parametrize("timeout", [0, -1, float("inf"), float("nan"), True, "2"])
def test_a_timeout_must_end(timeout):
    with pytest.raises(InputError, match="it must be a number of seconds above 0"):
        federation(["http://127.0.0.1:1"], timeout=timeout)
