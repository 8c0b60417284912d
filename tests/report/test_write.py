"""Writing a report on a file: the training table, the dates, and where the model comes from."""

import hashlib
import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

from partita import InputError, __version__, store
from partita.attacks._findings import Audit
from partita.report import write_report
from partita.report._write import origin_of
from partita.workflow import certify_file
from tests.selection.sweeps import setting


def test_a_report_on_the_training_table_says_so(stored, tmp_path, visit):
    page = visit(
        write_report(
            certify_file(stored / "model", stored / "train.csv", verbose=0), tmp_path / "out.html"
        ).read_text("utf-8")
    )
    assert (
        page.locator("[role=alert] .training")
        .inner_text()
        .startswith("These are the rows the model was trained on:")
    )
    page = visit(
        write_report(
            certify_file(stored / "model", stored / "new.csv", verbose=0), tmp_path / "out.html"
        ).read_text("utf-8")
    )
    assert page.locator("[role=alert] .training").count() == 0
    share = pd.read_csv(stored / "new.csv").target.mean()
    assert (
        f"always answering 1, at every r\n{100 * share:.1f} %"
        in page.locator(".beside").inner_text()
    )


def test_a_report_says_when_it_and_its_model_were_made(visit, stored, tmp_path):
    found = certify_file(stored / "model", stored / "new.csv", verbose=0)
    manifest = found.stored.manifest | {"stored": "2024-02-03T04:05:06+01:00"}
    certified = replace(found, stored=replace(found.stored, manifest=manifest))
    text = write_report(certified, tmp_path / "out.html").read_text(encoding="utf-8")
    page = visit(text)
    origin = page.locator(".origin").first.inner_text()
    assert "2024-02-03 03:05 UTC" in origin
    made = datetime.strptime(
        re.search(r"report made\s+(\S+ \S+ UTC)", origin)[1], "%Y-%m-%d %H:%M UTC"
    ).replace(tzinfo=UTC)
    assert timedelta(0) <= datetime.now(UTC) - made < timedelta(minutes=10)
    assert (
        f"Made by partita {__version__} on {made:%Y-%m-%d %H:%M} UTC"
        in page.locator("footer").inner_text()
    )
    del manifest["stored"]
    assert "model stored" not in write_report(certified, tmp_path / "out.html").read_text(
        encoding="utf-8"
    )


def test_a_sweep_of_another_target_or_an_audit_of_another_model_is_refused(stored, tmp_path):
    certified = certify_file(stored / "model", stored / "new.csv", verbose=0)
    constant = {"answer": 1, "accuracy": 0.5, "balanced": 0.5}
    settings = [setting(3, [0.9, 0.0]).as_dict()]
    sweep = {"radius": None, "want": "accuracy", "task": "classification", "target": "price"}
    sweep |= {"constant": constant, "settings": settings, "rows": 9, "counts": "3 columns"}
    (tmp_path / "choice.json").write_text(json.dumps(sweep))
    with pytest.raises(InputError, match="sweep is about the target 'price', but the model predic"):
        write_report(certified, tmp_path / "r.html", sweep=tmp_path / "choice.json")
    audit = Audit("columns", [], [], of={"model": "0" * 64})
    with pytest.raises(InputError, match="audit is of another model"):
        write_report(certified, tmp_path / "r.html", audit=audit.save(tmp_path / "audit.json"))
    assert not (tmp_path / "r.html").exists()


def test_the_origin_names_versions_hashes_and_the_training_table(stored):
    manifest = store.manifest(stored / "model")
    origin = origin_of(manifest)
    sha256 = hashlib.sha256((stored / "train.csv").read_bytes()).hexdigest()
    assert origin["training data"] == f"train.csv, 285 rows, sha256 {sha256}"
    assert origin["target"] == "target (classification)"
    assert origin["partita"] == __version__
    by_footers = manifest["about"] | {"data": {"name": "t", "rows": 5, "footers": "f"}}
    assert origin_of(manifest | {"about": by_footers})["training data"] == (
        "t, 5 rows, sha256 of its Parquet footers f"
    )
    assert "training data" not in origin_of(manifest | {"about": None})
    assert origin_of(manifest | {"stored": "yesterday"})["model stored"] == "yesterday"
