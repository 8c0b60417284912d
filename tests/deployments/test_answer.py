"""An answer is the same on the screen and on the page, and draws its figure."""

from partita.deployments._answer import Answer, percent, points

ANSWER = Answer(
    "size",
    "How large?",
    "Very large.",
    ("what", "a | b"),
    [["first", "1.0 %"], ["the second", "20.0 %"]],
    {"a": 1},
    lambda figure: figure.add_subplot().plot([1, 2]),
)


def test_columns_of_text_are_aligned():
    assert str(ANSWER).splitlines() == [
        "what         a | b",
        "first        1.0 %",
        "the second  20.0 %",
        "",
        "Very large.",
    ]


def test_markdown_has_the_table_the_text_and_the_figure():
    page = ANSWER.markdown()
    assert page.startswith("## How large?\n\nVery large.\n")
    assert "| what | a \\| b |\n| --- | ---: |\n| first | 1.0 % |\n" in page
    assert "![How large?](size.png)" in page


def test_a_figure_is_a_png_and_the_same_each_time():
    picture = ANSWER.png()
    assert picture.startswith(b"\x89PNG")
    assert picture == ANSWER.png()


def test_shares_and_differences_in_words():
    assert percent(0.1234) == "12.3 %"
    assert points(0.0213) == "2.1 points more than"
    assert points(-0.1) == "10.0 points fewer than"
    assert points(0.0001) == "as many as"
