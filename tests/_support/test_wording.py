"""Shares, answers and names as sentences show them."""

import pytest

from partita._support import answer_text, percent, shortened


def test_a_share_is_a_percentage_with_one_digit():
    assert [percent(share) for share in (0, 0.1234, 1)] == ["0.0 %", "12.3 %", "100.0 %"]


@pytest.mark.parametrize(
    ("answer", "text"),
    [("no", "'no'"), (1, "1"), (True, "True"), (1234567.891, "1.23457e+06"), (0.5, "0.5")],
)
def test_labels_are_quoted_and_numbers_are_short(answer, text):
    assert answer_text(answer) == text


def test_a_long_name_is_cut_with_an_ellipsis():
    assert shortened("short", 5) == "short"
    assert shortened("longer", 5) == "long…"
    assert shortened(123456, 3) == "12…"
