"""The layout: imports follow the data's direction, and modules inside packages are private."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "partita"

# The data's way through the program. A package may import those before it, never those after it.
ORDER = [
    "errors",
    "_support",
    "tables",
    "partition",
    "ballots",
    "certificates",
    "kernels",
    "rules",
    "metrics",
    "collective",
    "patches",
    "plot",
    "ensemble",
    "vision",
    "store",
    "datasets",
    "workflow",
    "selection",
    "watch",
    "baselines",
    "attacks",
    "report",
    "serve",
    "cli",
    "__main__",
]
# Entry points stand above everything: "python -m" runs them, nothing imports them.
ENTRY_POINTS = {"partita.__main__", "partita.kernels.__main__"}
# The root's names are lazy; the modules below may import only the version from it.
ROOT_NAMES = {"__version__"}

NOT_PRIVATE = {
    "kernels/compiled.py",  # the one file of compiled code
}


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(("partita", *parts)).removesuffix(".__init__")


MODULES = {name_of(path): path for path in sorted(SOURCE.rglob("*.py"))}


def for_type_checkers(tree: ast.Module) -> set[int]:
    """The nodes under ``if TYPE_CHECKING``, which never run."""
    return {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }


def imports(module: str, path: Path) -> set[str]:
    """The modules of partita that a module imports, at any time."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = for_type_checkers(tree)
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    found = set()
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("partita")}
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1]] if node.level else []
            base = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                full = f"{base}.{alias.name}"
                if full in MODULES:
                    found.add(full)
                elif base in MODULES and not (base == "partita" and alias.name in ROOT_NAMES):
                    found.add(base)
    return {name for name in found if name in MODULES}


GRAPH = {module: imports(module, path) for module, path in MODULES.items()}


def rank(module: str) -> int:
    return ORDER.index(module.split(".")[1])


def test_every_package_has_its_place():
    tops = {module.split(".")[1] for module in MODULES if "." in module}
    assert tops == set(ORDER)


def test_no_import_goes_against_the_datas_direction():
    """Late imports included."""
    wrong = [
        f"{module} imports {other}"
        for module, others in GRAPH.items()
        if module != "partita" and module not in ENTRY_POINTS
        for other in sorted(others)
        if other == "partita" or rank(other) > rank(module)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_package_imports_another_ones_private_modules():
    """Packages talk through what their ``__init__`` offers; late imports included."""
    wrong = [
        f"{module} imports {other}"
        for module, others in GRAPH.items()
        for other in sorted(others)
        if "._" in other.removeprefix("partita._support")
        if other.split(".")[:2] != module.split(".")[:2]
    ]
    assert not wrong, "\n".join(wrong)


def private_members(path: Path) -> set[str]:
    """The members with one leading underscore of a module's classes."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef):
            for one in node.body:
                if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                    names.add(one.name)
                elif isinstance(one, ast.AnnAssign):
                    names.add(ast.unparse(one.target))
                elif isinstance(one, ast.Assign):
                    names |= {ast.unparse(target) for target in one.targets}
        elif ast.unparse(node).startswith("self._") and isinstance(node, ast.Attribute):
            names |= {node.attr} if isinstance(node.ctx, ast.Store) else set()
    return {name for name in names if name.startswith("_") and not name.startswith("__")}


def package_of(module: str) -> str:
    return ".".join(module.split(".")[:2])


DEFINED_IN: dict[str, set[str]] = {}  # the packages whose classes have each private member
for _module, _path in MODULES.items():
    for _name in private_members(_path):
        DEFINED_IN.setdefault(_name, set()).add(package_of(_module))


def private_reads(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The private attributes that a module uses of anything but ``self`` and ``cls``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            owner = ast.unparse(node.value)
            if owner not in ("self", "cls", "type(self)", "super()"):
                yield node.lineno, node.attr
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "hasattr"):
            name = node.args[1]
            if isinstance(name, ast.Constant) and str(name.value).startswith("_"):
                yield node.lineno, str(name.value)


def test_no_package_uses_another_ones_private_attributes():
    """A name that no other package of ours defines is a library's, or the reader's own."""
    wrong = [
        f"{module}:{line} uses {name}, which {', '.join(sorted(DEFINED_IN[name]))} defines"
        for module, path in MODULES.items()
        for line, name in private_reads(ast.parse(path.read_text(encoding="utf-8")))
        if name in DEFINED_IN and package_of(module) not in DEFINED_IN[name]
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "line", ["model._scores(X)", "model.inner._counts = 3", "getattr(model, '_scores')"]
)
def test_a_private_attribute_of_another_package_is_found(line):
    (found,) = private_reads(ast.parse(line))
    assert found[1] in DEFINED_IN
    assert not list(private_reads(ast.parse("self._scores(X); cls._scores; super()._scores()")))


def test_nothing_imports_an_entry_point():
    wrong = [module for module, others in GRAPH.items() if others & ENTRY_POINTS]
    assert not wrong


def test_no_cycles():
    """Late imports included: visiting in depth, no module is met again below itself."""
    done: set[str] = set()

    def visit(module: str, above: tuple[str, ...]) -> None:
        assert module not in above, " -> ".join([*above[above.index(module) :], module])
        if module in done:
            return
        for other in sorted(GRAPH[module] - {module}):
            visit(other, (*above, module))
        done.add(module)

    for module in GRAPH:
        visit(module, ())


def relative(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


@pytest.mark.parametrize("path", MODULES.values(), ids=relative)
def test_a_module_inside_a_package_is_private(path):
    inside = len(path.relative_to(SOURCE).parts) > 1
    if inside and path.parent.name != "_support" and relative(path) not in NOT_PRIVATE:
        assert path.name.startswith("_")


def test_every_module_says_what_it_is():
    silent = [
        relative(path)
        for path in MODULES.values()
        if not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert not silent
