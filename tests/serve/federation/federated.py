"""A federation of real processes on loopback: a table, parties with their own columns, and a
coordinator."""

import json
from contextlib import ExitStack, contextmanager

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partita import FeaturePartitionClassifier, store

from ..client import CANCER, TUMOUR, server

CLASSES = ["benign", "malignant"]
KEYS = [f"patient {i}" for i in range(len(CANCER))]
KEY = "a-key-of-many-letters"


def fitted(n_parties):
    names = list(CANCER.columns)
    units = {f"clinic {k}": names[k::n_parties] for k in range(n_parties)}
    submodel = make_pipeline(StandardScaler(), LogisticRegression())
    return FeaturePartitionClassifier(submodel, n_submodels=n_parties, units=units).fit(
        CANCER, np.where(TUMOUR == 1, "benign", "malignant")
    )


def write_tables(model, folder, rows=slice(None)):
    """Each party's own columns and the key, in an order of its own."""
    paths = []
    for t in range(len(model.partition_)):
        own = CANCER.iloc[:, model.columns_of(t)].assign(patient=KEYS).iloc[rows]
        paths.append(folder / f"{t}.csv")
        own.sample(frac=1, random_state=t).to_csv(paths[-1], index=False)
    return paths


def parties_toml(path, addresses, shares=None, timeout=5.0, **settings):
    lines = [f"classes = {json.dumps(CLASSES)}", f"timeout = {timeout}"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    if shares is not None:
        lines += ["[rule]", 'name = "tournament"', f"shares = {np.asarray(shares).tolist()}"]
    for k, address in enumerate(addresses):
        lines += ["[[parties]]", f'name = "clinic {k}"', f'address = "{address}"']
        lines += ['key_file = "party.key"'] if (path.parent / "party.key").exists() else []
    path.write_text("\n".join(lines))
    return path


@contextmanager
def parties(model, folder, count, **settings):
    """Clients and processes of the first parties."""
    stored = store.save(model, folder / "model")
    tables = write_tables(model, folder)
    (folder / "keys").write_text(f"coordinator {KEY}\n")
    (folder / "party.key").write_text(KEY)
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                server(
                    stored,
                    folder / f"party {t}.log",
                    table=str(tables[t]),
                    key="patient",
                    submodel=t,
                    api_keys=str(folder / "keys"),
                    **settings,
                )
            )
            for t in range(count)
        ]
