"""The packages: they build, they pass the index's checks, and they hold what people need."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

import partita

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A wheel, built from an sdist, with the tools that are installed: no network is needed."""
    for tool in ("build", "hatchling", "twine"):
        pytest.importorskip(tool, reason=f"{tool} is missing: pip install -e '.[dev]'")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel_files(packages):
    (wheel,) = packages.glob("*.whl")
    assert wheel.name == f"partita-{partita.__version__}-py3-none-any.whl"
    return set(zipfile.ZipFile(wheel).namelist())


@pytest.fixture(scope="module")
def sdist_files(packages):
    (sdist,) = packages.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def test_twine_has_nothing_to_say(packages):
    command = [sys.executable, "-m", "twine", "check", "--strict", *packages.iterdir()]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_wheel_holds_types_data_and_every_module(wheel_files):
    sources = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "partita").rglob("*")
        if path.suffix in {".py", ".csv", ".html", ".css", ".js", ".typed"}
        or path.name == "py.typed"
    }
    assert sources <= wheel_files
    pages = {"partita/report/page.html", "partita/serve/docs.html"}
    assert {"partita/py.typed", *pages} <= wheel_files
    assert any(name.endswith("published.csv") for name in wheel_files)
    assert not [name for name in wheel_files if name.startswith(("tests", "research"))]
    assert any(name.endswith("licenses/LICENSE") for name in wheel_files)


def test_the_sdist_holds_what_a_packager_needs(sdist_files):
    wanted = {
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CITATION.cff",
        "Makefile",
        "constraints.txt",
        "constraints-floor.txt",
        "pyproject.toml",
        "docs/conf.py",
        "docs/index.md",
        "docs/images/report.png",
        "examples/plot_01_first_proof.py",
        "tests/conftest.py",
        "tests/test_proof.py",
        "benchmarks/rules.py",
    }
    assert wanted <= sdist_files
    built = ("docs/_build", "docs/gallery", "docs/api/generated", ".venv", "dist")
    assert not [name for name in sdist_files if name.startswith(built) or "__pycache__" in name]


def test_versions_agree():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == partita.__version__
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    (ruff,) = [repo["rev"] for repo in hooks if "ruff" in repo["repo"]]
    assert f"ruff=={ruff.removeprefix('v')}" in (ROOT / "constraints.txt").read_text().splitlines()


def test_the_workflow_tests_every_python_that_the_package_names():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = {
        line.rpartition(" ")[2] for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)
    }
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    assert set(workflow["jobs"]["test"]["strategy"]["matrix"]["python"]) == named
    assert f">={min(named, key=lambda name: int(name[2:]))}" == project["requires-python"]


@pytest.mark.parametrize("file", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=str)
def test_workflows_use_actions_of_one_version(file):
    jobs = yaml.safe_load(file.read_text())["jobs"].values()
    steps = [step for job in jobs for step in job["steps"] if "uses" in step]
    assert steps
    assert all(re.search(r"@v\d+\.\d+\.\d+$", step["uses"]) for step in steps)


def test_the_conda_recipe_asks_for_what_the_package_asks_for():
    recipe = yaml.safe_load((ROOT / "deploy" / "conda" / "recipe.yaml").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert recipe["context"]["version"] == partita.__version__
    python, *needs = (one.replace(" ", "") for one in recipe["requirements"]["run"])
    assert python == f"python{project['requires-python']}"
    assert sorted(needs) == sorted(project["dependencies"])


def test_everything_the_package_asks_for_is_pinned_for_ci():
    """A library that constraints.txt does not name could turn main red by a new release."""
    pinned = {
        re.split(r"==", line)[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    names = {
        re.match(r"[A-Za-z0-9._-]+", one)[0].lower().replace("_", "-")
        for group in groups
        for one in group
    }
    assert names - {"partita"} <= pinned
