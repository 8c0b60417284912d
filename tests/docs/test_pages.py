"""The pages: their code runs, their links lead somewhere, and their tables are generated."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]
GENERATED = ("docs/_build", "docs/gallery", "docs/api/generated")
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    if not page.relative_to(ROOT).as_posix().startswith(GENERATED)
)
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
# not part of the project; the page does without
WEATHER = ROOT.parent / "shared" / "data" / "weather_europe.parquet"
SLOW = {
    "alternatives.md",
    "audit.md",
    "choosing.md",
    "cluster.md",
    "command-line.md",
    "federated.md",
    "leaving-out.md",
    "rare.md",
    "serve.md",
    "sources.md",
    "vision.md",
}
SHOWN = {"toml", "json", "text"}  # these blocks are not run
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```[ ]*$", re.DOTALL | re.MULTILINE)


def code_blocks(page: Path) -> list[tuple[str, str]]:
    """The language and content of each fenced block; Sphinx's directives are left out."""
    return [
        (kind, block) for kind, block in FENCE.findall(page.read_text()) if not kind.startswith("{")
    ]


def partita_calls(block: str) -> list[list[str]] | None:
    """The arguments of each line, if every line is a plain call of partita."""
    if set(block) & set("$|<>&;'"):
        return None
    lines = [shlex.split(line, comments=True) for line in block.replace("\\\n", " ").splitlines()]
    calls = [line for line in lines if line]
    return [call[1:] for call in calls] if all(call[0] == "partita" for call in calls) else None


def test_code_fits_the_sites_column():
    """88 columns at 1280 pixels, beside both sidebars; printed tables scroll."""
    wide = [
        f"{name}: {line}"
        for page, name in zip(PAGES, NAMES, strict=True)
        for kind, block in code_blocks(page)
        if kind in {"python", "sh"}
        for line in block.splitlines()
        if len(line) > 88
    ]
    assert not wide, "\n".join(wide)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.long] * (page.name in SLOW), id=name)
        for page, name in zip(PAGES, NAMES, strict=True)
    ],
)
def test_the_code_of_a_page_runs(page, partita, tmp_path, monkeypatch):
    """Blocks run in order, in a folder of their own; a toml block is the file that it names.

    Blocks that only call partita run in this process, which saves importing it for every line.
    """
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "__main__"}
    if WEATHER.exists() and page.name == "sources.md":
        pd.read_parquet(WEATHER).to_csv("weather_europe.csv", index=False)
    search = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for kind, block in code_blocks(page):
        assert kind in {"python", "sh", *SHOWN}, f"a block of {kind!r}"
        if kind == "python":
            if "if __name__ ==" not in block:
                exec(compile(block, str(page), "exec"), names)
            else:  # it is a script, so it must run without the blocks before it
                Path("script.py").write_text(block)
                done = subprocess.run(
                    [sys.executable, "script.py"], capture_output=True, text=True, timeout=300
                )
                assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
        elif kind == "sh" and (commands := partita_calls(block)):
            for command in commands:
                code, out, err = partita(*command)
                assert code == 0, f"{command}\n{out}\n{err}"
        elif kind == "sh":
            done = subprocess.run(
                ["bash", "-e", "-c", block],
                capture_output=True,
                text=True,
                timeout=300,
                env=os.environ | {"PATH": search},
            )
            assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
        elif kind == "toml":
            name = re.match(r"# (\S+\.toml)\n", block)
            assert name, f"a toml block begins with '# name.toml': {block}"
            Path(name[1]).write_text(block)


WITHOUT_EXTRAS = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {extras}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""


@pytest.mark.parametrize("page", ["README.md", "docs/start.md"])
def test_the_first_example_needs_no_extra(page):
    """It runs after a plain ``pip install .``: without everything that only extras bring."""
    extras = "pandas polars pyarrow matplotlib jinja2 rich typer skops torch lightgbm dask fastapi"
    first = next(block for kind, block in code_blocks(ROOT / page) if kind == "python")
    code = WITHOUT_EXTRAS.format(extras=extras.split()) + first
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_somewhere(page):
    prose = FENCE.sub("", page.read_text())
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", prose):
        if target == "gallery/index.rst":  # made from the examples
            target = "../examples/README.rst"
        assert target.startswith("http") or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_prose_has_at_most_100_columns(page):
    """Tables, code and addresses may be longer."""
    if page.name == "paper.md":
        pytest.skip("this page is generated, and mostly tables")
    prose = FENCE.sub("", page.read_text())
    long = [
        line
        for line in prose.splitlines()
        if len(line) > 100 and not line.startswith(("|", "    ", "!["))
    ]
    assert not long, "\n".join(long)


@pytest.mark.parametrize(
    ("script", "page"),
    [
        ("vision_table.py", "guide/vision.md"),
        ("patches_table.py", "guide/vision.md"),
        ("defences_table.py", "guide/baselines.md"),
        ("alternatives.py", "guide/alternatives.md"),
        ("defaults.py", "results/defaults.md"),
        ("leave_out.py", "results/leave-out.md"),
        ("radius.py", "results/radius.md"),
        ("watch_report.py", "results/watch.md"),
    ],
)
def test_tables_are_made_from_the_results(script, page):
    """No number in them is typed by hand."""
    printed = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / script], capture_output=True, text=True, check=True
    ).stdout
    assert printed in (ROOT / "docs" / page).read_text()


@pytest.mark.parametrize(
    "example", sorted((ROOT / "examples").glob("plot_*.py")), ids=lambda p: p.stem
)
def test_an_example_asks_a_question_and_says_what_to_do_next(example):
    text = example.read_text()
    title = text.splitlines()[1]
    assert title.endswith("?")
    assert 30 <= sum(bool(line.strip()) for line in text.splitlines()) <= 150
    assert "# What to do next:" in text[text.rindex("# %%") :]
    compile(text, str(example), "exec")


def test_every_public_package_is_in_the_api_reference():
    listed = set(re.findall(r"^   (partita\S*)$", (ROOT / "docs/api/index.md").read_text(), re.M))
    private = {"kernels", "report", "cli"}  # reached through partita
    public = {
        f"partita.{entry.stem}"
        for entry in (ROOT / "src" / "partita").iterdir()
        if not entry.name.startswith("_") and (entry.is_dir() or entry.suffix == ".py")
    }
    assert listed == {"partita", *public} - {f"partita.{name}" for name in private}
