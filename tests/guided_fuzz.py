"""Fuzzing guided by coverage, for what is read from bytes: units.toml, CSV, JSON, manifests.

Part of ``make fuzz``::

    python tests/guided_fuzz.py [RUNS]    # per kind of file; needs pip install atheris (Linux)

Every input must be refused in a sentence of ours or read; anything else stops the program, and the
input is left in a file.
"""

import importlib.util
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

RUNS = 20_000
PLACE = Path(tempfile.gettempdir())  # a folder of its own, while it runs


def units(content: bytes) -> None:
    from partita.partition import read_units

    (PLACE / "units.toml").write_bytes(content)
    read_units(PLACE / "units.toml", ["x", "y", "price a"])


def csv(content: bytes) -> None:
    from partita.tables import open_file

    (PLACE / "table.csv").write_bytes(content)
    file = open_file(PLACE / "table.csv")
    table = file.table({name: file.kind(name) for name in file.names})
    for column in range(table.n_columns):
        table.take([column])


def audit(content: bytes) -> None:
    from partita.attacks._findings import read_audit

    (PLACE / "found.json").write_bytes(content)
    read_audit(PLACE / "found.json")


def choice(content: bytes) -> None:
    from partita.selection import read_choice

    (PLACE / "choice.json").write_bytes(content)
    read_choice(PLACE / "choice.json")


def manifest(content: bytes) -> None:
    """Bytes in place of a stored model's manifest."""
    from partita import store

    (_model() / "manifest.json").write_bytes(content)
    store.load(_model())


def _model() -> Path:
    folder = PLACE / "model"
    if not folder.exists():
        from sklearn.datasets import load_iris
        from sklearn.naive_bayes import GaussianNB

        from partita import FeaturePartitionClassifier, store

        X, y = load_iris(return_X_y=True)
        store.save(
            FeaturePartitionClassifier(GaussianNB(), n_submodels=2, n_jobs=1).fit(X, y), folder
        )
    return folder


SEEDS = {
    units: [
        b"trusted = ['x']\nignore = ['y']\n[units]\nprices = ['price *']\n",
        b"[units]\na = ['x', 'y']\n'b' = ['price a']",
    ],
    csv: [
        b"a,b\n1,2\n3.5,x\n",
        b'day,"a b",c\n2024-01-02T03:04:05,"x,y",true\n,,\n',
        b"\xef\xbb\xbfa;b\n1;2\n",
    ],
    audit: [
        json.dumps(
            {
                "passed": True,
                "of": {"model": "a"},
                "what": "columns",
                "lines": [],
                "checks": [{"name": "a"}],
            }
        ).encode()
    ],
    choice: [
        json.dumps(
            {
                "rows": 10,
                "target": "y",
                "want": "accuracy",
                "task": "classification",
                "radius": None,
                "counts": "3 columns",
                "constant": {"answer": 1, "accuracy": 0.5, "balanced": 0.5},
                "settings": [
                    {
                        "method": "partition",
                        "options": {"submodels": 3},
                        "radius": 1,
                        "curve": [0.9, 0.5],
                        "seconds": 1.0,
                        "balanced_curve": [0.9, 0.5],
                        "recall": {"a": [0.9]},
                        "precision": {"a": [0.9]},
                        "predicted": None,
                        "median": 1.0,
                        "nearly_constant": False,
                        "warnings": [],
                    }
                ],
            }
        ).encode()
    ],
    manifest: [],
}
TARGETS = {target.__name__: target for target in SEEDS}


def _run(name: str, runs: int) -> None:
    """One target; the process ends with it."""
    import atheris

    with atheris.instrument_imports(include=["partita"], exclude=["partita.kernels"]):
        import partita.attacks._findings
        import partita.partition._units_file
        import partita.selection._choice
        import partita.store
        import partita.tables._files
    target, corpus = TARGETS[name], PLACE / "corpus"
    corpus.mkdir()
    seeds = SEEDS[target] or [(_model() / "manifest.json").read_bytes()]
    for k, seed in enumerate(seeds):
        (corpus / str(k)).write_bytes(seed)

    def tried(content: bytes) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                target(content)
            except partita.errors.PartitaError as exc:
                if not str(exc) or "Traceback" in str(exc):
                    raise AssertionError("an error without a sentence") from exc

    atheris.Setup(
        [
            sys.argv[0],
            f"-runs={runs}",
            "-max_len=8192",
            "-verbosity=0",
            "-print_final_stats=1",
            str(corpus),
        ],
        tried,
    )
    atheris.Fuzz()


def main(runs: int) -> None:
    if importlib.util.find_spec("atheris") is None:
        print("guided fuzzing is left out: pip install atheris")
        return
    total = 0
    for name in TARGETS:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, __file__, name, str(runs), folder],
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        counts = [
            int(line.split()[-1])
            for line in done.stderr.splitlines()
            if "number_of_executed_units" in line
        ]
        if done.returncode or not counts:
            print(done.stderr[-4000:])
            sys.exit(f"{name}: an input was neither read nor refused in words of ours")
        total += counts[0]
        print(f"{name}: {counts[0]:,} inputs", flush=True)
    print(f"{total:,} inputs guided by coverage")


if __name__ == "__main__":
    if len(sys.argv) == 4:
        PLACE = Path(sys.argv[3])
        _run(sys.argv[1], int(sys.argv[2]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
