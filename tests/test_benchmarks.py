"""Every benchmark can be imported, and starts with its result, its hardware and its command."""

import ast
import importlib.util
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"
FILES = sorted(FOLDER.glob("*.py"))
# what the others share, and programs that print files which were measured elsewhere
NOT_MEASURED = {
    "same_answers.py",
    "ames.py",
    "defaults_data.py",
    "defaults_grid.py",
    "defaults_report.py",
    "defences_table.py",
    "leave_out_data.py",
    "leave_out_report.py",
    "patches_table.py",
    "radius_data.py",
    "radius_report.py",
    "timing.py",
    "vision_table.py",
    "watch_report.py",
}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
@pytest.mark.filterwarnings("ignore")  # of libraries that are imported for the first time
def test_a_benchmark_can_be_imported(file, monkeypatch):
    """Benchmarks use private modules, which may move."""
    monkeypatch.syspath_prepend(FOLDER)
    for library in ("distributed", "lightgbm", "torch"):
        if re.search(rf"^(import|from) {library}", file.read_text(), re.MULTILINE):
            pytest.importorskip(library)
    spec = importlib.util.spec_from_file_location(f"benchmark_{file.stem}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert file.name in NOT_MEASURED - {"defences_table.py", "vision_table.py"} or module.main


@pytest.mark.parametrize(
    "file", [file for file in FILES if file.name not in NOT_MEASURED], ids=lambda file: file.name
)
def test_a_benchmark_starts_with_its_result(file):
    header = ast.get_docstring(ast.parse(file.read_text()))
    assert re.search(r"\d", header.splitlines()[0]), "the first line holds the result"
    assert re.search(r"core|H200|GPU", header), "the hardware"
    assert f"python benchmarks/{file.name}" in header, "the command"
