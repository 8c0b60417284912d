"""Rows of JSON: each cell by the kind of its column, and one sentence for what is wrong."""

import json

import numpy as np
import pandas as pd
import pytest

from partita import (
    FeaturePartitionClassifier,
    serve,
)
from partita.tables import open_file

from .client import CANCER, FIRST, TUMOUR, ask, cell_of, refused, rows_of, strict


def test_null_and_nan_are_the_same_missing_value(labels):
    row = rows_of(CANCER[:1])[0]
    answers = [
        strict(labels[0].post("/certify", content=cell_of(row, gap)))["rows"]
        for gap in ("null", "NaN")
    ]
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    "text",
    [
        "true",
        "false",
        '"12.5"',
        '""',
        "[]",
        "{}",
        "[1]",
        "[" * 800 + "]" * 800,
        '"\\ud83d\\ude00"',
        '"' + "x" * 10**5 + '"',
    ],
)
def test_a_cell_of_the_wrong_kind_is_named(labels, text):
    refused(
        labels[0].post("/certify", content=cell_of(rows_of(CANCER[:1])[0], text)),
        422,
        "a number is needed",
        row=0,
        column=FIRST,
    )


@pytest.mark.parametrize(
    "text", ["1e999", "9" * 400, "9" * 10_000, "Infinity", "1" + "0" * 400 + ".5"]
)
def test_a_number_too_large_is_infinite(labels, text):
    row = rows_of(CANCER[:1])[0]
    answers = [
        strict(labels[0].post("/certify", content=cell_of(row, written)))
        for written in (text, "1e400")
    ]
    assert answers[0] == answers[1]
    assert answers[0]["rows"]


def test_rows_and_columns_are_named(labels):
    client, rows = labels[0], rows_of(CANCER[:5])
    lacking = {name: value for name, value in rows[3].items() if name != "mean area"}

    def post(row):
        return client.post("/certify", json={"rows": [*rows[:3], row, rows[4]]})

    refused(post(lacking), 422, "row 3 lacks the column 'mean area'", row=3, column="mean area")
    refused(
        post(rows[3] | {"price": 1}),
        422,
        "row 3 has the column 'price', which the model was not",
        row=3,
        column="price",
    )
    refused(
        post(rows[3] | {"mean area": "big"}),
        422,
        "row 3",
        "'big' where a number is needed",
        row=3,
        column="mean area",
    )
    refused(post(rows[3] | {"mean\0area": 1}), 422, r"'mean\x00area'", row=3, column="mean\0area")
    refused(post([1, 2]), 422, "row 3 is not an object", row=3)
    twice = json.dumps({"rows": [rows[0], rows[1]]})[:-3] + ', "mean area": 0}]}'
    refused(
        client.post("/certify", content=twice),
        422,
        "row 1 has the column 'mean area' twice",
        row=1,
        column="mean area",
    )


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b'{"rows": [{}]} and more', "not valid JSON"),
        (b"\x1f\x8b\x08\x00", "UTF-8"),
        (b'{"rows": [{"\xed\xa0\x80": 1}]}', "UTF-8"),
        (b'{"rows": [{"\\ud800": 1}]}', "UTF-8"),
        (b"null", "the body must be"),
        (b"[]", "the body must be"),
        (b"{}", "the body must be"),
        (b'{"rows": {}}', "the body must be"),
        (b'{"rows": [{}], "tolerance": 5}', "the body must be"),
        (b'{"rows": [], "rows": []}', "the body must be"),
        (b'{"rows": []}', "rows is empty"),
        (b"[" * 10**5, "nested too deep"),
        (b'{"rows":' * 50_000, "nested too deep"),
        (b'{"rows": [{"a":' + b"[" * 10**5 + b"]" * 10**5 + b"}]}", "nested too deep"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(labels, body, words):
    refused(labels[0].post("/certify", content=body), 422, words)


def test_every_kind_of_column_is_read_cell_by_cell(tmp_path):
    """Texts, times and booleans, as they are read from a file; each cell by itself, whatever its
    neighbours hold."""
    place = tmp_path / "table.csv"
    times = pd.date_range("2026-01-01", periods=len(CANCER)).strftime("%Y-%m-%d")
    CANCER.iloc[:, :3].assign(
        grade=np.where(TUMOUR == 1, "low", "high"), seen=times, known=TUMOUR == 1
    ).to_csv(place, index=False)
    file = open_file(place)
    kinds = {name: file.kind(name) for name in file.names}
    assert set(kinds.values()) == {"number", "text", "time", "boolean"}
    model = FeaturePartitionClassifier(n_submodels=6, on_failure="vote").fit(
        file.table(kinds), TUMOUR
    )
    app = serve.make_app(model)
    rows = [
        dict(zip(kinds, [*values, grade, time_, bool(known)], strict=True))
        for values, grade, time_, known in zip(
            CANCER.iloc[:50, :3].values.tolist(),
            np.where(TUMOUR, "low", "high"),
            times,
            TUMOUR,
            strict=False,
        )
    ]
    told = strict(ask(app, {"rows": rows}))["rows"]
    assert [row["radius"] for row in told] == model.certify(
        file.table(kinds).with_rows(np.arange(50))
    ).radius.tolist()
    gaps = dict.fromkeys(kinds)
    assert [strict(ask(app, {"rows": [row, gaps]}))["rows"][0] for row in rows[:10]] == told[:10]
    for column, cell, words in [
        ("grade", 5, "text is needed"),
        ("seen", "yesterday", "a time"),
        ("seen", 5, "a time"),
        ("known", 2, "true or false"),
        ("mean radius", True, "a number"),
    ]:
        refused(
            ask(app, {"rows": [rows[0], rows[1] | {column: cell}]}),
            422,
            words,
            row=1,
            column=column,
        )
    refused(ask(app, {"rows": [rows[0] | {"grade": "\ud800"}]}), 422, "UTF-8")
    assert ask(app, {"rows": [rows[0] | {"grade": "\0 \U0001f600"}]}).status_code == 200
    as_numbers = [row | {"known": int(row["known"])} for row in rows]
    assert strict(ask(app, {"rows": as_numbers}))["rows"] == told


def test_cells_of_a_source_declared_silent_are_not_read(classifier):
    row = rows_of(CANCER[:1])[0]
    cells = ["n/a", True, None, [1, {}], {"a": "b"}, 1e308, "2026-01-31"]
    rows = [row | {"mean radius": cell, "mean area": cell} for cell in cells]
    answers = strict(ask(serve.make_app(classifier, silent=["size"]), {"rows": [row, *rows]}))
    assert all(answer == answers["rows"][0] for answer in answers["rows"])
    assert answers["rows"][0]["silent_units"] == ["size"]
    detecting = serve.make_app(classifier, silent="detect")
    refused(ask(detecting, {"rows": rows[:1]}), 422, "holds 'n/a'", row=0, column="mean radius")


def test_rows_without_a_silent_source_are_answered(classifier):
    """The columns of silent sources may be null, or not there at all."""
    app = serve.make_app(classifier, silent="detect")
    row = rows_of(CANCER[:1])[0]
    size = ["mean radius", "mean area"]
    without = {name: value for name, value in row.items() if name not in size}
    null = row | dict.fromkeys(size)
    answers = strict(ask(app, {"rows": [without, null, row]}))["rows"]
    assert [answer["silent_units"] for answer in answers] == [["size"], ["size"], []]
    assert answers[0] == answers[1]
    frame = CANCER[:1].copy()
    frame[size] = np.nan
    proof = classifier.certify(frame, silent="detect")
    assert answers[0]["prediction"] == proof.prediction[0]
    assert answers[0]["radius"] == proof.radius[0]
    trusted = {name: value for name, value in row.items() if name != "mean texture"}
    refused(
        ask(app, {"rows": [trusted]}),
        422,
        "lacks the column",
        row=0,
        column="mean texture",
    )
    schema = app.openapi()["paths"]["/certify"]["post"]["requestBody"]
    row_schema = schema["content"]["application/json"]["schema"]["properties"]["rows"]["items"]
    assert row_schema["required"] == ["mean texture"]
