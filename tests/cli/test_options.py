"""Options that several commands share mean the same in all of them."""

import inspect

import pytest

from partita.cli import _audit, _certify, _choose, _fit, _serve

COMMANDS = {
    "audit": _audit.audit,
    "certify": _certify.certify,
    "choose": _choose.choose,
    "fit": _fit.fit,
    "report": _certify.report,
    "serve": _serve.serve,
}


@pytest.mark.parametrize(
    "option",
    [
        *("model", "data", "target", "units", "estimator", "seed", "tolerance", "relative"),
        *("trust", "sep", "decimal", "encoding", "jobs", "quiet", "as_json"),
        *("reference", "exchanges"),
    ],
)
def test_a_shared_option_is_the_same_everywhere(option):
    parameters = [
        parameter
        for command in COMMANDS.values()
        for name, parameter in inspect.signature(command).parameters.items()
        if name == option
    ]
    assert len(parameters) > 1
    assert len({id(parameter.annotation) for parameter in parameters}) == 1
    assert len({parameter.default for parameter in parameters}) == 1
