"""Every block of Python and shell in README and docs runs as it stands, page by page, and every
link leads somewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
WEATHER = (
    ROOT.parent / "shared" / "data" / "weather_europe.parquet"
)  # not part of the project; docs/sources.md does without
SLOW = {"audit.md", "choosing.md", "cluster.md", "command-line.md", "sources.md", "vision.md"}
KNOWN = {"python", "sh", "toml", "json", "text"}  # the last three are shown, not run


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.long] * (page.name in SLOW), id=page.name)
        for page in PAGES
    ],
)
def test_code_runs(page, capsys, tmp_path, monkeypatch):
    """The blocks of a page run in their order, in a folder of their own; a toml block is the file
    that its first line names."""
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "__main__"}
    if WEATHER.exists() and page.name == "sources.md":
        pd.read_parquet(WEATHER).to_csv("weather_europe.csv", index=False)
    search = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for kind, block in re.findall(
        r"^```(\w*)\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE
    ):
        assert kind in KNOWN, f"a block of {kind!r}"
        if kind == "python":
            if "if __name__ ==" not in block:
                exec(compile(block, str(page), "exec"), names)
            else:  # says that it is a script: it must be one, without the blocks before it
                Path("script.py").write_text(block)
                done = subprocess.run(
                    [sys.executable, "script.py"], capture_output=True, text=True, timeout=120
                )
                assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
        elif kind == "sh":
            done = subprocess.run(
                ["bash", "-e", "-c", block],
                capture_output=True,
                text=True,
                timeout=120,
                env=os.environ | {"PATH": search},
            )
            assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
        elif kind == "toml":
            name = re.match(r"# (\S+\.toml)\n", block)
            assert name, f"a toml block begins with '# name.toml': {block}"
            Path(name[1]).write_text(block)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        assert target.startswith("http") or (page.parent / target).exists(), target


@pytest.mark.parametrize(
    ("script", "page"),
    [
        ("vision_table.py", "vision.md"),
        ("defences_table.py", "baselines.md"),
        ("defaults.py", "defaults.md"),
    ],
)
def test_tables_are_made_from_the_results(script, page):
    """No number in them is typed by hand."""
    printed = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / script], capture_output=True, text=True, check=True
    ).stdout
    assert printed in (ROOT / "docs" / page).read_text()
