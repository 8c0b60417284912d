"""An audit of a stored model on tables in files."""

from dataclasses import replace
from typing import Any

from ..errors import InputError
from ..tables import CsvOptions, sha256_of
from ..workflow import TRAINING_ROWS, open_model, open_prediction_table
from ._audit import ATTACKS, ROWS, audit, check_attacks
from ._findings import Audit


def audit_file(
    model: Any,
    data: Any,
    training: Any = None,
    *,
    tolerance: float | None = None,
    relative: float | None = None,
    attacks: tuple[str, ...] = ATTACKS,
    rows: int = ROWS,
    most: int | None = None,
    seed: int = 0,
    trusted: tuple[str, ...] = (),
    verbose: int = 1,
    jobs: int | None = None,
    csv: CsvOptions | None = None,
) -> Audit:
    """Audit a stored model on a table in a file.

    ``training`` is the table that the model was fitted on; ``data`` serves as such where its
    content is the same.
    """
    check_attacks(attacks)  # before the work begins
    stored = open_model(model, trusted, jobs)
    source = open_prediction_table(stored, data, csv=csv)
    known = stored.about.get("data") or {}
    if training is None and stored.is_training_table(data):
        training = data
    if training is not None and known and not stored.is_training_table(training):
        raise InputError(
            f"training {str(training)!r} is not the table that the model was fitted on "
            f"({known.get('name')}): give that one"
        )
    X_train, y_train = (None, None) if training is None else stored.training_rows(training)
    table = source.file.table(stored.schema.kinds)
    findings = audit(
        stored.model,
        table.take_all(),
        source.truth(source.file),
        X_train,
        y_train,
        tolerance=tolerance,
        relative=relative,
        attacks=attacks,
        rows=rows,
        most=most,
        random_state=seed,
        verbose=verbose,
    )
    if source.on_training:
        findings = replace(findings, warnings=[TRAINING_ROWS, *findings.warnings])
    return replace(findings, of={"model": stored.digest, "data": sha256_of(data)})
