"""The paper's numbers are those that were copied."""

from pathlib import Path

import pytest

from partita import InputError
from research.paper import paper_table, parse_number, radii_of

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "research" / "paper_tables"
# where the numbers were copied from; not part of the project
COPIED = ROOT.parent / "shared" / "paper-tables"


@pytest.mark.skipif(not COPIED.exists(), reason="the tables are not beside the project")
def test_the_numbers_are_those_that_were_copied():
    here = {file.name: file.read_text() for file in HERE.iterdir() if file.name.startswith("table")}
    assert here == {file.name: file.read_text() for file in COPIED.glob("*.csv")}


def test_a_cell_s_text_becomes_its_number():
    assert parse_number("5.4e0") == 5.4
    assert parse_number("<1") is None
    assert radii_of({"T": "5", "r0": "1", "r13": "2", "rule": "x"}) == [0, 13]
    with pytest.raises(InputError, match="2 tables of the paper begin so"):
        paper_table("table25")
