"""The page of results: ``python -m partita.reproduce FOLDER > docs/results/paper.md``."""

import sys
from pathlib import Path

from ._page import results_page

if __name__ == "__main__":
    print(results_page(Path(sys.argv[1])), end="")
