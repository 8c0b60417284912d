"""The code of README and docs passes a user's type checkers: mypy --strict, and pyright.

The checkers see the installed package as a user's do. Libraries without type information are
configured away as users do it (``ignore_missing_imports``); no error about partita is.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted(page for page in ROOT.glob("docs/**/*.md") if "_build" not in page.parts),
]

MYPY = """
[mypy]
strict = True
ignore_missing_imports = True
untyped_calls_exclude = distributed
# of no interest here, and slow to read
[mypy-torch.*,fastapi.*,starlette.*,uvicorn.*,pydantic.*,narwhals.*,dask.*,distributed.*,rich.*]
follow_imports = skip
"""
# What pyright guesses from the source of libraries without type information is no fact.
PYRIGHT = {"useLibraryCodeForTypes": False, "reportMissingModuleSource": False}

TYPED = """
from typing import Any, assert_type
from numpy.typing import NDArray
from partita import Certificates, FeaturePartitionClassifier, FeaturePartitionRegressor, certify
from partita.metrics import certified_accuracy
from partita.rules import Median, RunOff, Tournament

X, y = [[0.0, 1.0], [1.0, 0.0]], [0, 1]
clf = FeaturePartitionClassifier(n_submodels=5, units={"a": ["b"]}, rule=Tournament(margin=0.5))
assert_type(clf.fit(X, y), FeaturePartitionClassifier)
assert_type(clf.fit(X, y).certify(X), Certificates)
assert_type(clf.fit(X, y).certify(X).radius, NDArray[Any])
assert_type(clf.predict(X), NDArray[Any])
reg = FeaturePartitionRegressor(n_submodels=21, rule=Median(stretch=1.3)).fit(X, y)
assert_type(reg.certify(X, around=y, relative=0.15), Certificates)
assert_type(reg.interval(X, radius=2), tuple[NDArray[Any], NDArray[Any]])
assert_type(certify([[[1.0, 0.0]]], rule=RunOff(exact=True)), Certificates)
assert_type(certified_accuracy(y, clf.certify(X), radius=3), float)
print(clf.certify(X).runner_up[0])
"""
WRONG = """
from partita import FeaturePartitionClassifier, certify

FeaturePartitionClassifier(n_submodel=5)
FeaturePartitionClassifier(n_submodels=[5])
FeaturePartitionClassifier().certify([[0.0]]).radii
certify([[[1.0, 0.0]]], rule=3)
"""
WRONG_LINES = [4, 5, 6, 7]


def python_of(page: Path) -> list[str]:
    """The page's blocks as one program, and each script by itself."""
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    scripts = [block for block in blocks if "if __name__ ==" in block]
    page_blocks = [block for block in blocks if block not in scripts]
    return (["\n".join(page_blocks)] if page_blocks else []) + scripts


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A user's project: the code of every page, and what must be right and wrong about it."""
    folder = tmp_path_factory.mktemp("project")
    for page in PAGES:
        stem = re.sub(r"\W", "_", page.relative_to(ROOT).with_suffix("").as_posix())
        for k, code in enumerate(python_of(page)):
            (folder / f"{stem}_{k}.py").write_text(code)
    (folder / "typed.py").write_text(TYPED)
    (folder / "wrong.py").write_text(WRONG)
    (folder / "mypy.ini").write_text(MYPY)
    (folder / "pyrightconfig.json").write_text(json.dumps(PYRIGHT))
    return folder


def assert_only_the_wrong_lines(found: list[tuple[str, int, str]]) -> None:
    """Errors in the lines that are wrong on purpose, and nowhere else."""
    elsewhere = [error for error in found if error[0] != "wrong.py"]
    assert not elsewhere, "\n".join(f"{file}:{line}: {text}" for file, line, text in elsewhere)
    assert sorted({line for _, line, _ in found}) == WRONG_LINES


def test_mypy_strict_accepts_the_documentation(project):
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=mypy.ini", "--no-error-summary", "."],
        cwd=project,
        capture_output=True,
        text=True,
    )
    assert not done.stderr
    found = re.findall(r"^(\S+?):(\d+): error: (.*)$", done.stdout, flags=re.MULTILINE)
    assert_only_the_wrong_lines([(file, int(line), text) for file, line, text in found])


def test_pyright_accepts_the_documentation(project):
    pytest.importorskip("pyright", reason="pip install 'pyright[nodejs]'")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "."]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError:
        pytest.skip(f"pyright could not be started (it may need to download itself): {done.stderr}")
    found = [
        (Path(one["file"]).name, one["range"]["start"]["line"] + 1, one["message"])
        for one in report["generalDiagnostics"]
        if one["severity"] == "error"
    ]
    assert_only_the_wrong_lines(found)
