"""One source after the other, until one has the known bits."""

import pytest

from partita import InputError, MissingExtraError
from partita.datasets._fetch import Source, fetch
from partita.datasets._fetch_limits import FetchError
from partita.datasets._table_data import KnownTable

from .test_cache import CONTENT, KNOWN


def fails(message):
    def read():
        raise message if isinstance(message, Exception) else FetchError(message)

    return read


def fetch_from(cache, *sources):
    return fetch(KNOWN, cache, lambda folder: sources, lambda folder: f"put it into {folder}")


def test_the_first_source_with_the_known_bits_wins(cache, capsys):
    later = []
    content = fetch_from(
        cache,
        Source("one.org", fails("no response")),
        Source("two.org", lambda: b"other bits"),
        Source("three.org", lambda: CONTENT),
        Source("four.org", lambda: later.append(1)),
    )
    assert content == CONTENT
    assert not later
    assert capsys.readouterr().err.splitlines() == [
        "partita: known: trying one.org",
        "partita: known: could not use one.org: no response",
        "partita: known: trying two.org",
        "partita: known: could not use two.org: the sha256 of its content differs from that of "
        "the original",
        "partita: known: trying three.org",
        f"partita: known is cached in {cache / 'known.csv'}",
    ]


def test_what_is_cached_needs_no_source(cache, capsys):
    fetch_from(cache, Source("one.org", lambda: CONTENT))
    capsys.readouterr()
    assert fetch_from(cache, Source("one.org", fails("never asked"))) == CONTENT
    assert capsys.readouterr().err == ""


def test_an_error_of_the_system_is_one_more_failure(cache):
    source = Source("disk", fails(PermissionError(13, "Permission denied")))
    assert fetch_from(cache, source, Source("good", lambda: CONTENT)) == CONTENT


def test_if_all_fail_the_error_says_why_and_what_to_do(cache):
    with pytest.raises(InputError) as caught:
        fetch_from(cache, Source("one.org", fails("404")), Source("two.org", fails("timed out")))
    assert str(caught.value) == (
        "known is not in the cache and could not be downloaded (one.org: 404; two.org: timed "
        f"out): put it into {cache}"
    )
    assert not list(cache.iterdir())


def test_a_missing_library_is_an_error_only_if_no_other_source_does_without(cache):
    needs = Source("sheets", fails(MissingExtraError("PIL", "reading PNG", "pillow")))
    with pytest.raises(MissingExtraError, match="pip install pillow"):
        fetch_from(cache, needs, Source("one.org", fails("404")))
    assert fetch_from(cache, needs, Source("good", lambda: CONTENT)) == CONTENT


def test_other_errors_are_bugs_and_come_through(cache):
    with pytest.raises(ZeroDivisionError):
        fetch_from(cache, Source("one.org", fails(ZeroDivisionError())))


def test_a_known_table_is_what_its_hash_says():
    with pytest.raises(FetchError, match="the sha256 of its content differs"):
        KnownTable("known", "0" * 64).check(CONTENT)
