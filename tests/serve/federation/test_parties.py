"""Parties: where and how they are asked, and what is refused before anybody is."""

import pytest

from partita import InputError
from partita.serve import Party
from partita.serve.federation._parties import check_parties


@pytest.mark.parametrize(
    ("address", "place", "path", "host"),
    [
        ("http://127.0.0.1:8001", ("127.0.0.1", 8001), "/ballot", "127.0.0.1:8001"),
        ("https://a.example/", ("a.example", 443), "/ballot", "a.example"),
        ("http://a.example/x/y", ("a.example", 80), "/x/y/ballot", "a.example"),
        ("http://[::1]:9", ("::1", 9), "/ballot", "[::1]:9"),
    ],
)
def test_an_address_says_where_to_ask(address, place, path, host):
    party = Party("A", address)
    party.check()
    assert (party.place, party.path, party.netloc) == (place, path, host)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "127.0.0.1:80",
        "ftp://a.example",
        "http://",
        "http://a.example:99999",
        "http://a.example:0",
        "http://user:word@a.example",
        "http://a.example/?x=1",
        "http://a.example/#x",
        "http://a.example/\r\nX: 1",
        "http://a example",
        None,
    ],
)
def test_an_address_that_cannot_be_asked_is_refused(address):
    with pytest.raises(InputError, match=r"the party 'A' has the address .*: give one such as"):
        Party("A", address).check()


def test_a_key_is_read_when_it_is_needed(tmp_path):
    file = tmp_path / "key"
    file.write_text("first-key\n")
    party = Party("A", "http://127.0.0.1:1", key_file=file)
    assert party.key() == "first-key"
    file.write_text("second-key")
    assert party.key() == "second-key"
    for content in ("", "two words", "two\nlines", "é"):
        file.write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match="is empty or holds more than a key"):
            party.check()
    file.unlink()
    with pytest.raises(InputError, match=r"of the party 'A' cannot be read \(No such file"):
        party.check()


def test_certificates_go_with_tls(tmp_path):
    with pytest.raises(InputError, match="an address without TLS"):
        Party("A", "http://127.0.0.1:1", ca=tmp_path / "ca.pem").check()
    with pytest.raises(InputError, match=r"cannot be used .* give a PEM file"):
        Party("A", "https://127.0.0.1:1", ca=tmp_path / "ca.pem").check()


def test_nobody_stands_in_the_list_twice():
    """Owning an address that is asked twice would be two votes and count as one."""
    a, b = Party("A", "http://127.0.0.1:1"), Party("B", "http://127.0.0.1:2")
    assert check_parties([a, b]) == (a, b)
    for wrong, message in [
        ([], "parties is empty"),
        ([a, Party("A", "http://127.0.0.1:3")], "two parties have the name 'A'"),
        (
            [a, Party("B", "http://127.0.0.1:1/")],
            r"'A' \(.*\) and 'B' \(.*\) have the same address",
        ),
        ([a, "http://127.0.0.1:2"], "give partita.serve.Party objects"),
        ([Party(" ", "http://127.0.0.1:2")], "a party's name is ' '"),
        ([Party("A\n", "http://127.0.0.1:2")], "give a text that can be printed"),
    ]:
        with pytest.raises(InputError, match=message):
            check_parties(wrong)
