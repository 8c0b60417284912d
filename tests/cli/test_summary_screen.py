"""What ``partita certify`` prints fits the terminal."""

import pytest

from partita._support import radii_that_fit


@pytest.mark.parametrize(
    "width", [60, *(pytest.param(width, marks=pytest.mark.long) for width in (80, 120))]
)
def test_tables_fit_the_terminal(width, monkeypatch, partita, constant, digits):
    monkeypatch.setenv("COLUMNS", str(width))
    _, out, _ = partita("certify", constant, digits / "new.csv")
    lines = [line for line in out.splitlines() if line.startswith("  ")]
    assert max(map(len, lines)) <= width
    radii = lines[0].split()[2:]
    assert radii[:3] == ["0", "1", "2"]
    assert all(len(line.split("  ")[-1].strip()) <= 5 for line in lines)
    assert radii_that_fit(40, 20)[0] == 0
    assert radii_that_fit(40, 20)[-1] == 39
