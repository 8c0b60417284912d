"""The report, in a real browser and as text."""

import json
import math
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor
from partita.answers import Answers
from partita.metrics import certified_accuracy
from partita.report import gather, render
from partita.report.facts import _outward
from partita.report.page import embedded
from tests.browser import open_browser

HOSTILE = (
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    "{{ 7 * 7 }} {% raw %}",
    "\u2028 \u2029 <!-- & ' \"",
    "<b>bold</b>",
    "plain",
)


@pytest.fixture(scope="module")
def browser():
    with open_browser() as opened:
        yield opened


@pytest.fixture
def visit(browser, tmp_path):
    """Open a report; afterwards there must be no error in its console and no request but for the file itself."""
    problems, pages = [], []

    def go(text, **options):
        (tmp_path / "report.html").write_text(text, encoding="utf-8")
        page = browser.new_page(**options)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: problems.append(request.url) if not request.url.endswith("report.html") else None)
        page.goto(f"file://{tmp_path}/report.html")
        pages.append(page)
        return page

    yield go
    for page in pages:
        page.close()
    assert problems == []


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = np.where(y, "benign", "malignant").astype(object)
    clf = FeaturePartitionClassifier(n_submodels=9, units={"worst": [name for name in X if name.startswith("worst")]}).fit(X[::2], y[::2])
    answers = Answers(clf, X[1::2])
    return answers, y[1::2], gather(answers, title="Breast cancer", truth=y[1::2], origin={"seed": 0}, files={"a": "b" * 64})


@pytest.fixture(scope="module")
def page_of_cancer(cancer):
    return render(cancer[2])


def test_the_slider_changes_the_numbers(visit, cancer, page_of_cancer):
    answers, truth, facts = cancer
    page = visit(page_of_cancer)
    slider = page.locator("#radius")
    assert slider.input_value() == "1"
    slider.focus()
    for radius in (2, 3, 4):
        page.keyboard.press("ArrowRight")
        share = certified_accuracy(truth, answers.proof, radius)
        assert page.locator("#share").inner_text() == f"{100 * share:.1f} %"
        assert page.locator("#sentence").inner_text().startswith(f"{round(share * len(truth))} of {len(truth)} predictions are right")
        assert page.locator("#radius-value").inner_text() == str(radius)
        one = facts["collective"][radius - 1]
        assert f"changes at most {one['changed']} of {len(truth)}" in page.locator("#together").inner_text()
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    assert page.locator("#radius-value").inner_text() == "0"
    assert "with nobody attacking" in page.locator("#sentence").inner_text()


def test_a_click_into_the_curve_moves_the_slider(visit, page_of_cancer):
    page = visit(page_of_cancer)
    box = page.locator("#curve").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.97, box["y"] + box["height"] / 2)
    assert page.locator("#radius").input_value() == page.locator("#radius").get_attribute("max")


def cells(page, column):
    names = page.locator("#rows thead th").all_inner_texts()
    return page.locator(f"#rows tbody td:nth-child({[name.split(' ')[0] for name in names].index(column) + 1})").all_inner_texts()


def test_the_table_sorts(visit, cancer, page_of_cancer):
    answers = cancer[0]
    page = visit(page_of_cancer)
    assert cells(page, "row") == [str(k) for k in range(25)]
    button = page.locator("#rows th[data-name=radius] button")
    button.click()
    assert page.locator("#rows th[data-name=radius]").get_attribute("aria-sort") == "ascending"
    assert cells(page, "radius") == [str(r) for r in np.sort(answers.proof.radius)[:25]]
    button.focus()
    page.keyboard.press("Enter")
    assert page.locator("#rows th[data-name=radius]").get_attribute("aria-sort") == "descending"
    assert cells(page, "radius") == [str(r) for r in np.sort(answers.proof.radius)[::-1][:25]]
    assert page.locator("#rows th[aria-sort]").count() == 1


def test_the_table_filters_and_turns_pages(visit, cancer, page_of_cancer):
    answers, truth, _ = cancer
    page = visit(page_of_cancer)
    wrong = np.flatnonzero(answers.prediction != truth)
    page.locator("#show").select_option("wrong")
    assert page.locator("#shown").inner_text() == f"{len(wrong)} of {len(truth)} rows"
    assert cells(page, "row") == [str(k) for k in wrong[:25]]
    page.locator("#show").select_option("lost")
    assert page.locator("#shown").inner_text() == f"{np.sum(answers.proof.radius < 1)} of {len(truth)} rows"
    page.locator("#show").select_option("held")
    page.locator("#find").fill("malignant")
    assert page.locator("#rows tbody tr").count() == 25
    page.locator("#show").select_option("all")
    page.locator("#find").fill("")
    page.locator("#after").click()
    assert cells(page, "row")[0] == "25"
    page.locator("#before").click()
    assert cells(page, "row")[0] == "0"
    assert page.locator("#before").is_disabled()


def test_every_radius_rival_and_vote_is_the_models(cancer):
    answers, truth, facts = cancer
    assert len(facts["rows"]) == len(truth)
    for row in facts["rows"]:
        i = row["row"]
        assert (row["prediction"], row["radius"], row["rival"]) == (
            answers.prediction[i],
            answers.proof.radius[i],
            answers.proof.runner_up[i],
        )
        votes = np.asarray(answers.model.classes_)[answers.ballots[i].argmax(axis=1)]
        assert row["votes"] == [int(np.sum(votes == label)) for label in answers.model.classes_]
        assert (len(row["hangs_on"]) > 0) == (row["radius"] == 0)
    for radius, share in enumerate(facts["curves"][0]["share"]):
        assert share == certified_accuracy(truth, answers.proof, radius)
    hangs = [source["hangs"] for source in facts["sources"]]
    assert hangs == sorted(hangs, reverse=True)
    assert {source["name"] for source in facts["sources"]} == set(answers.model.units_.names)


def test_names_and_values_are_escaped(visit):
    rng = np.random.default_rng(0)
    y = np.array(HOSTILE[:3], dtype=object)[rng.integers(3, size=120)]
    X = pd.DataFrame({name: rng.normal(size=120) + (y == HOSTILE[k % 3]) for k, name in enumerate(HOSTILE)})
    clf = FeaturePartitionClassifier(n_submodels=3, units={HOSTILE[0]: [HOSTILE[0], HOSTILE[1]]}, trusted=[HOSTILE[3]]).fit(X, y)
    answers = Answers(clf, X)
    text = render(gather(answers, title=HOSTILE[0], truth=y, origin={HOSTILE[1]: HOSTILE[0]}, files={HOSTILE[0]: HOSTILE[1]}))
    assert text.count("<script") == 2  # the data and the page's own
    assert "\u2028" not in text.split('id="facts">')[1].split("</script>")[0]
    page = visit(text)
    assert page.evaluate("window.hacked") is None
    assert page.locator("h1").inner_text() == HOSTILE[0]
    assert page.locator("main img, main b:has-text('bold')").count() == 0
    shown = page.locator("#rows tbody").inner_text()
    assert HOSTILE[0] in shown
    assert HOSTILE[2] in page.locator("#rows tbody").inner_text()
    assert json.loads(page.locator("#facts").inner_text()) is not None


def test_a_script_that_slips_in_would_not_run(visit, page_of_cancer, browser, tmp_path):
    """The page's policy allows its own script alone."""
    (tmp_path / "bad.html").write_text(page_of_cancer.replace("<main", "<script>window.hacked = 1</script><main"), encoding="utf-8")
    page = browser.new_page()
    page.goto(f"file://{tmp_path}/bad.html")
    assert page.evaluate("window.hacked") is None
    assert page.locator("#share").inner_text() != ""
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_readable_in_light_and_dark(scheme, visit, page_of_cancer):
    page = visit(page_of_cancer, color_scheme=scheme)
    for selector in ("body", ".lead", "#sentence", "#rows td", "h2", ".note", "#rows th button", "dd"):
        ratio = page.evaluate(CONTRAST, selector)
        assert ratio >= 4.5, (selector, ratio)


CONTRAST = """(selector) => {
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  let place = document.querySelector(selector);
  const ink = light(numbers(getComputedStyle(place).color));
  while (place && (numbers(getComputedStyle(place).backgroundColor)[3] ?? 1) === 0) place = place.parentElement;
  const paper = light(numbers(getComputedStyle(place ?? document.body).backgroundColor));
  return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
}"""


def test_readable_on_a_phone(visit, page_of_cancer):
    page = visit(page_of_cancer, viewport={"width": 360, "height": 740}, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)") >= 16
    sizes = page.evaluate("[...document.querySelectorAll('#curve text')].map((text) => text.getBoundingClientRect().height)")
    assert min(sizes) >= 10


def test_by_keyboard_alone(visit, page_of_cancer):
    page = visit(page_of_cancer)
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                "document.activeElement.id || document.activeElement.parentElement.dataset.name || document.activeElement.tagName"
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


def test_numbers_with_a_tolerance(visit):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    reg = FeaturePartitionRegressor(n_submodels=5).fit(X[::2], y[::2])
    answers = Answers(reg, X[1::2], tolerance=60)
    truth = y[1::2].to_numpy()
    page = visit(render(gather(answers, title="Diabetes", truth=truth)))
    proof = reg.certify(X[1::2], around=truth, tolerance=60)
    assert page.locator("#share").inner_text() == f"{100 * certified_accuracy(truth, proof, 1):.1f} %"
    low, high = reg.interval(X[1::2], 1)
    shown = [list(map(float, cell.split(" … "))) for cell in cells(page, "interval")]
    for (left, right), lowest, highest in zip(shown, low, high, strict=False):
        assert left <= lowest
        assert highest <= right
        assert right - left <= (highest - lowest) * 1.001 + 0.01


def test_numbers_without_a_tolerance(visit):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    reg = FeaturePartitionRegressor(n_submodels=5).fit(X[::2], y[::2])
    page = visit(render(gather(Answers(reg, X[1::2]), title="Diabetes")))
    low, high = reg.interval(X[1::2], 1)
    assert float(page.locator("#share").inner_text()) == pytest.approx(np.median(high - low), rel=1e-4)
    page.locator("#radius").focus()
    page.keyboard.press("ArrowRight")
    assert "interval at r = 2" in page.locator("#rows thead").inner_text()


def test_rows_beyond_the_limit_are_those_with_the_largest_radius():
    X, y = load_digits(return_X_y=True)
    clf = FeaturePartitionClassifier(n_submodels=7).fit(X[:600], y[:600])
    facts = gather(Answers(clf, X[600:900]), title="Digits", most_rows=50)
    kept = sorted(row["radius"] for row in facts["rows"])
    assert kept == np.sort(clf.certify(X[600:900]).radius)[:50].tolist()
    assert facts["n_rows"] == 300
    assert "The 50 rows with the smallest radius, of 300" in render(facts)


@pytest.mark.parametrize("end", [0.0, 1.23456789, -1.23456789, 123456.5, -0.0012345678, 1e300, 999999.9])
def test_an_interval_is_rounded_outward(end):
    assert _outward(end, math.floor) <= end <= _outward(end, math.ceil)


def test_embedded_data_cannot_end_its_element():
    text = embedded({"a": "</script><!--&\u2028", "b": ["<SCRIPT>"]})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"a": "</script><!--&\u2028", "b": ["<SCRIPT>"]}
