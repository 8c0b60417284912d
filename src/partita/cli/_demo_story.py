"""A deployment's story on the screen: ``partita demo gas``, ``air`` or ``credit``.

It prints what ``partita.deployments`` found, answer by answer; nothing here computes numbers.
"""

from pathlib import Path
from typing import Any

from .._support import print_line, print_table
from ..deployments import run_deployment


def tell_story(
    name: str, out: Path, data: Path | None, show: bool = True, verbose: int = 1
) -> dict[str, Any]:
    """Run a story, write its page, and print the answers as short tables."""
    story = run_deployment(name, out, data=data, verbose=verbose)
    if show:
        print_line(story.deployment.title)
        print_line(story.deployment.question)
        print_line(story.about())
        for number, answer in enumerate(story.answers.values(), start=1):
            print_line()
            print_table(f"{number}. {answer.question}", answer.columns, answer.rows)
            print_line(answer.text)
        print_line()
        print_line("What to do")
        print_line(story.decision)
        print_line()
        print_line(f"Done in {story.seconds:.0f} s. The page and its figures: {out / 'README.md'}")
    return story.as_dict()
