"""Errors of others in one line."""

from partita._support.values import LONGEST, one_line


def test_an_error_is_one_line_of_readable_length():
    assert one_line(ValueError("first\nsecond")) == "first"
    assert one_line(ValueError("  \n padded\n")) == "padded"
    assert len(one_line(ValueError("x" * 1000))) == LONGEST


def test_an_error_without_a_message_is_named_by_its_class():
    assert one_line(KeyboardInterrupt()) == "KeyboardInterrupt"
    assert one_line(TimeoutError("\n")) == "TimeoutError"
