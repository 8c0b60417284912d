"""An audit of a stored model on tables in files."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InputError
from ..store import _store as store
from ..tables._kinds import TEXT
from ..tables._open import CsvOptions, open_file, sha256_of
from ..workflow._tally import ON_TRAINING
from ..workflow._workflow import ask, is_the_table, known_kinds
from ._audit import ATTACKS, audit, check_attacks
from ._findings import Audit


def audit_file(
    model: Any,
    data: Any,
    training: Any = None,
    *,
    tolerance: float | None = None,
    relative: float | None = None,
    attacks: tuple[str, ...] = ATTACKS,
    rows: int = 200,
    most: int | None = None,
    seed: int = 0,
    trusted: tuple[str, ...] = (),
    verbose: int = 1,
    jobs: int | None = None,
    csv: CsvOptions | None = None,
) -> Audit:
    """Audit a stored model. ``training`` is the table it was fitted on; ``data`` is taken for it
    where its content is the same."""
    check_attacks(attacks)  # before the work begins
    asked = ask(model, data, trusted, verbose=0, csv=csv, jobs=jobs)
    about = asked.manifest.get("about") or {}
    known = about.get("data") or {}
    if training is None and is_the_table(known, data):
        training = data
    if training is not None and known and not is_the_table(known, training):
        raise InputError(
            f"training {str(training)!r} is not the table that the model was fitted on "
            f"({known.get('name')}): give that one"
        )
    X_train, y_train = (None, None) if training is None else _training(asked.model, training, about)
    table = asked.file.table(asked.kinds)
    found = audit(
        asked.model,
        table.take(list(range(table.n_columns))),
        asked.truth(asked.file),
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
    if asked.on_training:
        found = replace(found, warnings=[ON_TRAINING, *found.warnings])
    return replace(found, of={"model": store.digest(asked.manifest), "data": sha256_of(data)})


def _training(model: Any, path: Any, about: dict[str, Any]) -> tuple[Any, Any]:
    """The training table as fit read it."""
    target = about.get("target")
    if target is None:
        raise InputError(
            "the model does not say which column it predicts: audit it in Python, with "
            "partita.audit.audit"
        )
    kinds = known_kinds(model)
    as_text = [target] if about.get("target_kind") == TEXT else []
    split = about.get("split")
    how = kinds | dict.fromkeys([*about.get("ignore", []), *as_text], TEXT)
    written = CsvOptions().over(about.get("csv"))
    file = open_file(
        path,
        "training",
        kinds=how,
        split=None if split is None else (split[0], split[1]),
        csv=written,
    )
    file.check_has(target, "target")
    table, y = file.table(kinds), file.target(target)
    if not hasattr(model, "classes_"):
        y = y.astype(np.float64)
    elif y.dtype.kind == "f":
        y = y.astype(np.int64)
    return table.take(list(range(table.n_columns))), y
