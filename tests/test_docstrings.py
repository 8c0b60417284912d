"""Everything public is documented the numpydoc way, with examples that run.

The examples themselves are run by pytest (``--doctest-modules``).
"""

import dataclasses
import importlib
import inspect

import pytest
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate
from sklearn.base import BaseEstimator

from tests.test_public import PUBLIC

IGNORED = {
    "GL01",  # our docstrings start right behind the quotes, as PEP 257 shows it
    "ES01",  # one sentence is often enough
}
# Demanded of functions and classes: a method's page is its class's, and errors are only raised.
NOT_OF_METHODS = {"SA01", "EX01"}
# Classes that functions return and users do not make: Attributes instead of Parameters.
RESULTS_LACK = {"PR01"}
# Examples that are shown and cannot run in a test.
SHOWN_ONLY = {
    "partita.datasets.load_ames": "reads a download",
    "partita.datasets.load_cifar10": "reads a download",
    "partita.datasets.load_mnist": "reads a download",
    "partita.datasets.load_weather": "reads a download",
    "partita.datasets.load_weather_europe": "reads a download",
    "partita.serve.run": "runs until it is stopped",
}


def is_error(public: object) -> bool:
    return inspect.isclass(public) and issubclass(public, Exception | Warning)


def is_result(public: object) -> bool:
    """Whether a class is a record: a dataclass or a named tuple, documented by its attributes."""
    return (
        inspect.isclass(public)
        and not issubclass(public, BaseEstimator)
        and (dataclasses.is_dataclass(public) or hasattr(public, "_fields"))
    )


def objects() -> dict[str, object]:
    """Every public object once, by the first path under which users find it."""
    found: dict[int, tuple[str, object]] = {}
    for package, names in PUBLIC.items():
        module = importlib.import_module(package)
        for name in names:
            public = getattr(module, name)
            found.setdefault(id(public), (f"{package}.{name}", public))
    return dict(found.values())


OBJECTS = objects()


def methods(public: type) -> list[str]:
    """The public methods that partita itself gives to a class."""
    return [
        name
        for name, method in inspect.getmembers(public)
        if not name.startswith("_")
        and (inspect.isroutine(method) or isinstance(method, property))
        and (getattr(inspect.unwrap(method), "__module__", None) or "").startswith("partita")
    ]


def is_inherited(public: type, name: str) -> bool:
    """Whether a method without a docstring overrides one that has it: help() shows that one."""
    own = inspect.getattr_static(public, name)
    return not (getattr(own, "__doc__", None) or "") and bool(inspect.getdoc(getattr(public, name)))


def complaints(path: str, ignored: set[str]) -> list[str]:
    return [f"{code} {text}" for code, text in validate(path)["errors"] if code not in ignored]


@pytest.mark.parametrize("path", OBJECTS)
def test_a_public_object_is_documented(path):
    public = OBJECTS[path]
    ignored = IGNORED | (NOT_OF_METHODS if is_error(public) else set())
    ignored |= RESULTS_LACK if is_result(public) else set()
    ignored |= {"PR01"} if getattr(public, "_is_protocol", False) else set()  # nobody makes one
    assert not complaints(path, ignored)


@pytest.mark.parametrize("path", [path for path, one in OBJECTS.items() if inspect.isclass(one)])
def test_a_public_method_is_documented(path):
    public = OBJECTS[path]
    found = {
        name: complaints(f"{path}.{name}", IGNORED | NOT_OF_METHODS)
        for name in methods(public)
        if not is_inherited(public, name)
    }
    assert not {name: wrong for name, wrong in found.items() if wrong}


@pytest.mark.parametrize("path", [path for path, one in OBJECTS.items() if is_result(one)])
def test_a_result_documents_every_attribute(path):
    public = OBJECTS[path]
    fields = (
        [field.name for field in dataclasses.fields(public)]
        if dataclasses.is_dataclass(public)
        else public._fields
    )
    document = NumpyDocString(inspect.getdoc(public))
    written = [
        name.strip()
        for section in ("Attributes", "Parameters")
        for entry in document[section]
        for name in entry.name.split(",")
    ]
    assert not {name for name in fields if not name.startswith("_")} - set(written)


@pytest.mark.parametrize("path", [path for path, one in OBJECTS.items() if not is_error(one)])
def test_an_example_can_be_pasted(path):
    """At least one line of it runs, unless the reason why not is listed."""
    examples = "\n".join(NumpyDocString(inspect.getdoc(OBJECTS[path]))["Examples"])
    lines = [line for line in examples.splitlines() if line.startswith(">>>")]
    assert lines, f"{path} has no example"
    runs = any("doctest: +SKIP" not in line for line in lines)
    assert runs or path in SHOWN_ONLY, f"{path} has no example that runs"
