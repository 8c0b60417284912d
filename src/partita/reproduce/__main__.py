"""The page of results: ``python -m partita.reproduce FOLDER > docs/results.md``."""

import sys
from pathlib import Path

from ._page import page

print(page(Path(sys.argv[1])), end="")
