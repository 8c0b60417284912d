"""The list of planted bugs is up to date; ``make mutations`` plants them."""

from tests.mutations import BUGS, ROOT


def test_every_line_to_break_is_there_once_and_so_are_its_tests():
    stale = [bug.name for bug in BUGS if bug.path(ROOT).read_text().count(bug.line) != 1]
    stale += [
        f"{bug.name}: {name}" for bug in BUGS for name in bug.tests if not (ROOT / name).is_file()
    ]
    assert not stale, "\n".join(stale)
