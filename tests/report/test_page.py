"""The page in a real browser: its slider, its table, its safety, and without its script."""

import json
import re
from copy import copy
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier
from partita.ensemble import FixedVote
from partita.metrics import certified_accuracy, worst_case_precision
from partita.report import gather, render
from partita.report._page import embedded
from partita.workflow import CertifiedTable

from .pages import CONTRAST, HOSTILE, cells, quality_of


def test_the_slider_changes_the_numbers(visit, cancer, page_of_cancer):
    certified, truth, facts = cancer
    page = visit(page_of_cancer)
    slider = page.locator("#radius")
    assert slider.input_value() == "1"
    slider.focus()
    for radius in (2, 3, 4):
        page.keyboard.press("ArrowRight")
        share = certified_accuracy(truth, certified.proof, radius)
        assert page.locator("#share").inner_text() == f"{100 * share:.1f} %"
        assert (
            page.locator("#sentence")
            .inner_text()
            .startswith(f"{round(share * len(truth))} of {len(truth)} predictions are right")
        )
        assert page.locator("#radius-value").inner_text() == str(radius)
        one = facts["collective"][radius - 1]
        assert (
            f"changes at most {one['changed']} of {len(truth)}"
            in page.locator("#collective-note").inner_text()
        )
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    assert page.locator("#radius-value").inner_text() == "0"
    assert "without an attack" in page.locator("#sentence").inner_text()


def test_a_click_into_the_curve_moves_the_slider(visit, page_of_cancer):
    page = visit(page_of_cancer)
    box = page.locator("#curve").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.97, box["y"] + box["height"] / 2)
    assert page.locator("#radius").input_value() == page.locator("#radius").get_attribute("max")


def test_the_table_sorts_by_every_column(visit, cancer, page_of_cancer):
    certified = cancer[0]
    page = visit(page_of_cancer)
    button = page.locator("#rows th[data-name=radius] button")
    assert page.locator("#rows th[data-name=radius]").get_attribute("aria-sort") == "ascending"
    assert cells(page, "row") == [
        str(k) for k in np.argsort(certified.proof.radius, kind="stable")[:25]
    ]
    assert cells(page, "radius") == [str(r) for r in np.sort(certified.proof.radius)[:25]]
    button.focus()
    page.keyboard.press("Enter")
    assert page.locator("#rows th[data-name=radius]").get_attribute("aria-sort") == "descending"
    assert cells(page, "radius") == [str(r) for r in np.sort(certified.proof.radius)[::-1][:25]]
    assert page.locator("#rows th[aria-sort]").count() == 1
    page.locator("#rows th[data-name=row] button").click()
    assert cells(page, "row") == [str(k) for k in range(25)]


def test_the_table_filters_and_turns_pages(visit, cancer, page_of_cancer):
    certified, truth, _ = cancer
    page = visit(page_of_cancer)
    wrong = np.flatnonzero(certified.prediction != truth)
    page.locator("#show").select_option("wrong")
    assert page.locator("#shown").inner_text() == f"{len(wrong)} of {len(truth)} rows"
    assert sorted(map(int, cells(page, "row"))) == sorted(
        wrong[np.argsort(certified.proof.radius[wrong], kind="stable")][:25]
    )
    page.locator("#show").select_option("lost")
    assert (
        page.locator("#shown").inner_text()
        == f"{np.sum(certified.proof.radius < 1)} of {len(truth)} rows"
    )
    page.locator("#show").select_option("held")
    page.locator("#find").fill("malignant")
    assert page.locator("#rows tbody tr").count() == 25
    page.locator("#show").select_option("all")
    page.locator("#find").fill("")
    order = np.argsort(certified.proof.radius, kind="stable")
    page.locator("#after").click()
    assert cells(page, "row")[0] == str(order[25])
    page.locator("#before").click()
    assert cells(page, "row")[0] == str(order[0])
    assert page.locator("#before").is_disabled()


def test_names_and_values_are_escaped(visit):
    rng = np.random.default_rng(0)
    y = np.array(HOSTILE[:3], dtype=object)[rng.integers(3, size=120)]
    X = pd.DataFrame(
        {name: rng.normal(size=120) + (y == HOSTILE[k % 3]) for k, name in enumerate(HOSTILE)}
    )
    clf = FeaturePartitionClassifier(
        GaussianNB(),
        n_submodels=3,
        units={HOSTILE[0]: [HOSTILE[0], HOSTILE[1]]},
        trusted=[HOSTILE[3]],
    ).fit(X, y)
    certified = CertifiedTable.of(clf, X, truth=y)
    quality = quality_of(
        certified, y, warnings=[HOSTILE[0], HOSTILE[1]], chosen=HOSTILE[0], full_model=0.5
    )
    text = render(
        gather(
            certified,
            title=HOSTILE[0],
            origin={HOSTILE[1]: HOSTILE[0]},
            files={HOSTILE[0]: HOSTILE[1]},
            quality=quality,
        )
    )
    assert text.count("<script") == 2  # the data and the page's own
    assert "\u2028" not in text.split('id="facts">')[1].split("</script>")[0]
    page = visit(text)
    assert page.evaluate("window.hacked") is None
    assert page.locator("h1").inner_text() == HOSTILE[0]
    assert page.locator("img, main b:has-text('bold')").count() == 0
    assert page.locator("[role=alert] p").all_inner_texts() == [HOSTILE[0], HOSTILE[1]]
    assert HOSTILE[0] in page.locator("#chosen").inner_text()
    shown = page.locator("#rows tbody").inner_text()
    assert HOSTILE[0] in shown
    assert HOSTILE[2] in page.locator("#rows tbody").inner_text()
    assert json.loads(page.locator("#facts").inner_text()) is not None


def test_a_script_that_slips_in_would_not_run(visit, page_of_cancer, browser, tmp_path):
    """The page's policy allows its own script alone."""
    (tmp_path / "bad.html").write_text(
        page_of_cancer.replace("<main", "<script>window.hacked = 1</script><main"), encoding="utf-8"
    )
    page = browser.new_page()
    page.goto(f"file://{tmp_path}/bad.html")
    assert page.evaluate("window.hacked") is None
    assert page.locator("#share").inner_text() != ""
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_readable_in_light_and_dark(scheme, visit, page_of_cancer):
    page = visit(page_of_cancer, color_scheme=scheme)
    marked = ("body", ".lead", "#sentence", "#error", "h2", "#collective-note", "dd")
    for selector in (*marked, "#rows td", "#rows th button", "td small", ".beside dt"):
        ratio = page.evaluate(CONTRAST, selector)
        assert ratio >= 4.5, (selector, ratio)


def test_the_page_is_readable_on_a_phone(visit, page_of_cancer):
    page = visit(page_of_cancer, viewport={"width": 360, "height": 740}, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)") >= 16
    sizes = page.evaluate(
        "[...document.querySelectorAll('#curve .narrow text')].map((text) => "
        "text.getBoundingClientRect().height)"
    )
    assert min(sizes) >= 10
    assert page.locator("#curve .wide").is_hidden()


def test_the_radius_is_in_sight_on_a_phone(visit):
    """However long the labels are, and without scrolling sideways."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = np.where(
        y,
        "a benign tumour that has a rather long name",
        "malignant_without_any_place_to_break_the_line",
    ).astype(object)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=9).fit(X[::2], y[::2])
    page = visit(
        render(gather(CertifiedTable.of(clf, X[1::2], truth=y[1::2]), title="Cancer")),
        viewport={"width": 400, "height": 800},
    )
    box, place = (
        page.locator("#rows td.radius").first.bounding_box(),
        page.locator("#rows-place").bounding_box(),
    )
    assert place["x"] <= box["x"]
    assert box["x"] + box["width"] <= place["x"] + place["width"] <= 400
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_everything_is_reached_by_keyboard(visit, page_of_cancer):
    page = visit(page_of_cancer)
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                "document.activeElement.id || document.activeElement.parentElement.dataset.name "
                "|| document.activeElement.tagName"
            )
        )
    for place in ("radius", "find", "show", "row", "prediction", "votes", "after"):
        assert place in reached
    assert reached[0] == "A"  # the way past the heading


def test_every_field_has_a_label(page_of_cancer):
    class Fields(HTMLParser):
        labelled, fields, ids = set(), [], set()
        inside = 0

        def handle_starttag(self, tag, attributes):
            given = dict(attributes)
            self.ids.add(given.get("id"))
            if tag == "label":
                Fields.inside += 1
                self.labelled.add(given.get("for"))
            if tag in ("input", "select"):
                self.fields.append((given.get("id"), Fields.inside))
            for target in (given.get("aria-labelledby") or "").split():
                self.labelled.add(target)

        def handle_endtag(self, tag):
            Fields.inside -= tag == "label"

    parser = Fields()
    parser.feed(page_of_cancer)
    assert len(parser.fields) == 3
    assert all(inside or name in parser.labelled for name, inside in parser.fields)
    assert not re.search(r"(src|href)=\"?https?:", page_of_cancer)


def test_embedded_data_cannot_end_its_element():
    text = embedded({"a": "</script><!--&\u2028", "b": ["<SCRIPT>"]})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"a": "</script><!--&\u2028", "b": ["<SCRIPT>"]}


def test_without_javascript_the_page_is_complete(visit, cancer, page_of_cancer):
    certified, truth, facts = cancer
    page, scripted = visit(page_of_cancer, java_script_enabled=False), visit(page_of_cancer)
    share = certified_accuracy(truth, certified.proof, 1)
    assert page.locator("#share").inner_text() == f"{100 * share:.1f} %"
    for place in (
        "#proven-title",
        "#share",
        "#error",
        "#sentence",
        "#radius-value",
        "#collective-note",
        "#recall",
        ".beside",
        "#curve .wide",
    ):
        assert (
            page.locator(place).text_content().split()
            == scripted.locator(place).text_content().split()
            != []
        )
    assert page.locator("#rows tbody tr").count() == len(truth)
    assert cells(page, "row")[:25] == cells(scripted, "row")
    assert cells(page, "radius")[:25] == [str(r) for r in np.sort(certified.proof.radius)[:25]]
    table = page.locator("#numbers tbody tr")
    assert table.first.is_visible()
    for r, share in enumerate(facts["curves"][0]["share"]):
        assert table.nth(r).locator("td").first.inner_text().startswith(f"{100 * share:.1f} %")
    assert page.locator("#curve .wide").is_visible()
    assert page.locator("#curve .wide path").count() == len(facts["curves"])
    for control in ("#radius", "#find", "#show", "#before", "#after", ".hint.live"):
        assert page.locator(control).is_hidden()
        assert scripted.locator(control).is_visible()


def test_a_model_with_a_constant_answer_has_the_same_page_with_and_without_a_script(visit):
    """Radius T everywhere: the curve does not fall before its end."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    clf = FeaturePartitionClassifier(DummyClassifier(), n_submodels=5).fit(X[::2], y[::2])
    truth = y[1::2].to_numpy()
    certified = CertifiedTable.of(clf, X[1::2], truth=truth)
    text = render(gather(certified, title="Constant", quality=quality_of(certified, truth)))
    for scripted in (True, False):
        page = visit(text, java_script_enabled=scripted)
        assert (
            "Always answering 1 does at least as well at this radius"
            in page.locator("#beaten").inner_text()
        )
        assert page.locator("#recall tbody tr").first.inner_text().split() == [
            "0",
            str(np.sum(truth == 0)),
            "0.0",
            "%",
            "0.0",
            "%",
            "0",
            "0",
            "\u2013",  # nothing is predicted so
            "\u2013",
        ]


@pytest.mark.parametrize("scripted", [True, False])
def test_warnings_come_first_and_loud(scripted, visit, cancer):
    model = copy(cancer[0].model)
    model.estimators_ = [*model.estimators_[:6], *[FixedVote("no")] * 3]
    certified = replace(cancer[0], model=model)
    quality = {"warnings": ["99.9 % of the predictions are benign"], "on_training": True}
    page = visit(
        render(gather(certified, title="Cancer", quality=quality)),
        java_script_enabled=scripted,
    )
    alert = page.locator("[role=alert]")
    training, warning, failed = alert.locator("p").all_inner_texts()
    assert training.startswith("These are the rows the model was trained on:")
    assert warning == "99.9 % of the predictions are benign"
    assert failed.startswith("3 of 9 submodels failed to fit; each casts a fixed vote")
    assert alert.bounding_box()["y"] == 0
    assert (
        alert.bounding_box()["y"] + alert.bounding_box()["height"]
        <= page.locator("h1").bounding_box()["y"]
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_warnings_are_legible_in_large_letters(scheme, visit, cancer):
    certified = cancer[0]
    quality = {
        "warnings": ["w"],
        "on_training": True,
        "constant": {"answer": "benign", "share": 1.0},
    }
    page = visit(render(gather(certified, title="Cancer", quality=quality)), color_scheme=scheme)
    for selector in (".banner.training", ".banner.warning", "#beaten"):
        assert page.evaluate(CONTRAST, selector) >= 4.5
    size = page.evaluate(
        "parseFloat(getComputedStyle(document.querySelector('.banner.training')).fontSize)"
    )
    assert size >= 1.3 * page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)")


def test_the_constant_and_the_full_model_stand_beside_certified_accuracy(
    visit, cancer, page_of_cancer
):
    _, truth, facts = cancer
    page = visit(page_of_cancer)
    share = np.mean(truth == "benign")
    beside = page.locator(".beside").inner_text()
    assert f"always answering benign, at every r\n{100 * share:.1f} %" in beside
    assert "one model on all columns, nothing proven\n97.0 %" in beside
    names = page.locator("#curve .wide .reference-name").all_text_contents()
    assert sorted(names) == [
        f"constant answer {100 * share:.1f} %",
        "one model on all columns 97.0 %",
    ]
    assert page.locator("#curve .wide .reference").count() == 2
    page.locator("#numbers summary").click()
    assert f"{100 * share:.1f} %" in page.locator("#numbers tfoot").inner_text()
    page.locator("#radius").focus()
    for radius in range(2, len(facts["curves"][0]["share"])):
        page.keyboard.press("ArrowRight")
        assert (page.locator("#beaten").inner_text() != "") == (
            facts["curves"][0]["share"][radius] <= share
        )


def test_certified_recall_follows_the_slider(visit, cancer, page_of_cancer):
    certified, truth, facts = cancer
    page = visit(page_of_cancer)
    page.locator("#radius").focus()
    for radius in range(1, len(facts["curves"][0]["share"])):
        held = (certified.prediction == truth) & (certified.proof.radius >= radius)
        recall = [float(held[truth == label].mean()) for label in ("benign", "malignant")]
        shown = page.locator("#recall .measure span").all_inner_texts()
        assert shown == [f"{100 * share:.1f} %" for share in [*recall, np.mean(recall)]]
        kept, precision = (
            page.locator(f"#recall .{name}-now").all_inner_texts() for name in ("kept", "precision")
        )
        for k, label in enumerate(("benign", "malignant")):
            named = certified.prediction == label
            assert kept[k] == str(np.sum(named & (certified.proof.radius >= radius)))
            least = worst_case_precision(truth, certified.proof, label, radius)
            assert float(precision[k].removesuffix(" %")) == pytest.approx(100 * least, abs=0.101)
        assert page.locator("#balanced").inner_text() == shown[-1]
        assert page.locator("#recall th .radius-now").inner_text() == str(radius)
        page.keyboard.press("ArrowRight")


def test_how_the_settings_were_chosen_is_disclosed(visit, cancer):
    certified = cancer[0]
    quality = {"chosen": "Settings were chosen on the training table."}
    page = visit(
        render(gather(certified, title="Cancer", quality=quality)),
        java_script_enabled=False,
    )
    section = page.locator("section", has=page.get_by_role("heading", name="What is not covered"))
    assert quality["chosen"] in section.inner_text()


def test_without_quality_nothing_is_said_about_it(visit, cancer):
    certified = cancer[0]
    for quality in (
        None,
        dict.fromkeys(
            [
                "warnings",
                "constant",
                "full_model",
                "recall",
                "balanced",
                "on_training",
                "failed",
                "chosen",
            ]
        ),
    ):
        page = visit(render(gather(certified, title="Cancer", quality=quality)))
        for place in (
            "[role=alert]",
            ".beside",
            "#recall",
            "#chosen",
            ".reference",
            "#numbers tfoot",
        ):
            assert page.locator(place).count() == 0
        assert page.locator("#beaten").is_hidden()


def test_a_label_without_rows_has_no_recall(visit, cancer):
    certified = cancer[0]
    recall = [{"label": "benign", "rows": 0, "share": [None, float("nan")]}]
    page = visit(
        render(
            gather(
                certified,
                title="Cancer",
                quality={"recall": recall, "balanced": [None, None]},
            )
        )
    )
    assert page.locator("#recall .measure span").all_inner_texts() == ["\u2013", "\u2013"]  # dashes
    assert page.locator("#balanced").inner_text() == "\u2013"


def test_what_an_audit_warned_of_is_shown(visit, cancer):
    certified = cancer[0]
    line = {
        "attack": HOSTILE[1],
        "r": 1,
        "changed": 0,
        "rows": 5,
        "certified": 4,
        "certified_changed": 0,
        "accuracy": None,
    }
    audited = {
        "passed": True,
        "lines": [line | {"certified_accuracy": 0.5}],
        "checks": [],
        "warnings": [HOSTILE[0]],
    }
    page = visit(render(gather(certified, title="Cancer", audit=audited)))
    section = page.locator("section", has=page.get_by_role("heading", name="Attacked for real"))
    assert HOSTILE[0] in section.inner_text()
    del audited["warnings"]  # as earlier versions wrote it
    assert "Attacked for real" in render(gather(certified, title="Cancer", audit=audited))


def test_every_label_is_shown_at_every_radius_without_a_script(visit, cancer, page_of_cancer):
    recall = cancer[2]["quality"]["recall"]
    page = visit(page_of_cancer, java_script_enabled=False)
    lines = page.locator("#classes tbody tr")
    assert lines.count() == 2 * len(recall) + 1
    for k, one in enumerate(recall):
        for line, shares in ((2 * k, one["share"]), (2 * k + 1, one["precision"])):
            shown = lines.nth(line).locator("td").all_text_contents()[1:]
            expected = [100 * share if share == 1 else min(100 * share, 99.9) for share in shares]
            assert shown == [f"{share:.1f} %" for share in expected]
