"""The table of models under attack, as text, as a frame and as a figure."""

import pytest

from partita.attacks import AttackTable


def line(name, covers, proven):
    shares = {"evasion": 0.5, "poisoning": 0.6, "backdoor": 0.1, "worst": 0.1, "proven": proven}
    return {
        "method": name,
        "accuracy": 0.9,
        **{f"{kind}, r = 1": share for kind, share in shares.items()},
        "proof covers": covers,
        "fit": 1.25,
    }


@pytest.fixture
def table():
    rows = [
        line("plain", "nothing", 0.0),
        line("ablation", "evasion", 0.4),
        line("vote", "all", 0.05),
    ]
    return AttackTable(rows, (1,), ("Some note.",))


def test_markdown_shows_attacks_beside_what_is_proven(table):
    lines = table.to_markdown().splitlines()
    assert lines[0].startswith("| model | accuracy | r = 1: evasion / poisoning / backdoor |")
    assert lines[2] == "| plain | 90 | 50 / 60 / 10 |  | 1.2 x |"
    assert "| 40 (evasion only) |" in lines[3]
    assert "| 5 |" in lines[4]
    assert lines[-1] == "Some note."
    assert str(table) == table.to_markdown()


def test_the_frame_has_every_number(table):
    frame = table.to_frame()
    assert list(frame.index) == ["plain", "ablation", "vote"]
    assert frame.loc["vote", "backdoor, r = 1"] == 0.1


def test_the_figure_shows_proofs_that_cover_everything(table):
    ax = table.plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["plain", "ablation", "vote", "vote: proven"]
    assert ax.get_xlabel() == "sources attacked"
    assert ax.lines[-1].get_ydata().tolist() == [0.9, 0.05]
