"""The report, in a real browser and as text."""

import itertools
import json
import math
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor, __version__, store
from partita.metrics import certified_accuracy
from partita.report import gather, render, write_report
from partita.report._chart import chart
from partita.report._duels import _in_votes
from partita.report._facts import _outward
from partita.report._page import embedded
from partita.report._statements import estimate, wilson
from partita.rules import Plurality, RunOff, Tournament
from partita.workflow._certified_rows import Answers
from partita.workflow._sweep import Grid, Trial, read_sweep, sweep_file
from partita.workflow._tally import ON_TRAINING
from partita.workflow._workflow import certify_file, open_training
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
    """Open a report; afterwards there must be no error in its console and no request but for the
    file itself."""
    problems, pages = [], []

    def go(text, **options):
        (tmp_path / "report.html").write_text(text, encoding="utf-8")
        page = browser.new_page(**options)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "request",
            lambda request: (
                problems.append(request.url) if not request.url.endswith("report.html") else None
            ),
        )
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
    clf = FeaturePartitionClassifier(
        n_submodels=9, units={"worst": [name for name in X if name.startswith("worst")]}
    ).fit(X[::2], y[::2])
    answers = Answers(clf, X[1::2])
    quality = quality_of(answers, y[1::2], full_model=0.97)
    facts = gather(
        answers,
        title="Breast cancer",
        truth=y[1::2],
        origin={"seed": 0},
        files={"a": "b" * 64},
        quality=quality,
    )
    return answers, y[1::2], facts


def quality_of(answers, truth, **more):
    """What the report is told about a classifier's quality, counted the slow way."""
    radius = answers.proof.radius
    radii = range(radius.max() + 1)
    held = {r: (answers.prediction == truth) & (radius >= r) for r in radii}
    labels, counts = np.unique(truth, return_counts=True)
    recall = [
        {
            "label": label,
            "rows": int(count),
            "share": [float(held[r][truth == label].mean()) for r in radii],
        }
        for label, count in zip(labels, counts, strict=True)
    ]
    constant = {"answer": labels[counts.argmax()], "share": counts.max() / counts.sum()}
    return {
        "constant": constant,
        "recall": recall,
        "balanced": np.mean([one["share"] for one in recall], axis=0).tolist(),
        **more,
    }


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
        assert (
            page.locator("#sentence")
            .inner_text()
            .startswith(f"{round(share * len(truth))} of {len(truth)} predictions are right")
        )
        assert page.locator("#radius-value").inner_text() == str(radius)
        one = facts["collective"][radius - 1]
        assert (
            f"changes at most {one['changed']} of {len(truth)}"
            in page.locator("#together").inner_text()
        )
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
    return page.locator(
        f"#rows tbody td:nth-child({[name.split(' ')[0] for name in names].index(column) + 1})"
    ).all_inner_texts()


def test_the_table_sorts(visit, cancer, page_of_cancer):
    answers = cancer[0]
    page = visit(page_of_cancer)
    button = page.locator("#rows th[data-name=radius] button")
    assert page.locator("#rows th[data-name=radius]").get_attribute("aria-sort") == "ascending"
    assert cells(page, "row") == [
        str(k) for k in np.argsort(answers.proof.radius, kind="stable")[:25]
    ]
    assert cells(page, "radius") == [str(r) for r in np.sort(answers.proof.radius)[:25]]
    button.focus()
    page.keyboard.press("Enter")
    assert page.locator("#rows th[data-name=radius]").get_attribute("aria-sort") == "descending"
    assert cells(page, "radius") == [str(r) for r in np.sort(answers.proof.radius)[::-1][:25]]
    assert page.locator("#rows th[aria-sort]").count() == 1
    page.locator("#rows th[data-name=row] button").click()
    assert cells(page, "row") == [str(k) for k in range(25)]


def test_the_table_filters_and_turns_pages(visit, cancer, page_of_cancer):
    answers, truth, _ = cancer
    page = visit(page_of_cancer)
    wrong = np.flatnonzero(answers.prediction != truth)
    page.locator("#show").select_option("wrong")
    assert page.locator("#shown").inner_text() == f"{len(wrong)} of {len(truth)} rows"
    assert sorted(map(int, cells(page, "row"))) == sorted(
        wrong[np.argsort(answers.proof.radius[wrong], kind="stable")][:25]
    )
    page.locator("#show").select_option("lost")
    assert (
        page.locator("#shown").inner_text()
        == f"{np.sum(answers.proof.radius < 1)} of {len(truth)} rows"
    )
    page.locator("#show").select_option("held")
    page.locator("#find").fill("malignant")
    assert page.locator("#rows tbody tr").count() == 25
    page.locator("#show").select_option("all")
    page.locator("#find").fill("")
    order = np.argsort(answers.proof.radius, kind="stable")
    page.locator("#after").click()
    assert cells(page, "row")[0] == str(order[25])
    page.locator("#before").click()
    assert cells(page, "row")[0] == str(order[0])
    assert page.locator("#before").is_disabled()


def test_every_radius_and_rival_is_the_models(cancer):
    answers, truth, facts = cancer
    assert len(facts["rows"]) == len(truth)
    for row in facts["rows"]:
        i = row["row"]
        assert (row["prediction"], row["radius"], row["rival"]) == (
            answers.prediction[i],
            answers.proof.radius[i],
            answers.proof.runner_up[i],
        )
        assert (len(row["hangs_on"]) > 0) == (row["radius"] == 0)
    for radius, share in enumerate(facts["curves"][0]["share"]):
        assert share == certified_accuracy(truth, answers.proof, radius)
    hangs = [source["hangs"] for source in facts["sources"]]
    assert hangs == sorted(hangs, reverse=True)
    assert {source["name"] for source in facts["sources"]} == set(answers.model.units_.names)


def test_names_and_values_are_escaped(visit):
    rng = np.random.default_rng(0)
    y = np.array(HOSTILE[:3], dtype=object)[rng.integers(3, size=120)]
    X = pd.DataFrame(
        {name: rng.normal(size=120) + (y == HOSTILE[k % 3]) for k, name in enumerate(HOSTILE)}
    )
    clf = FeaturePartitionClassifier(
        n_submodels=3, units={HOSTILE[0]: [HOSTILE[0], HOSTILE[1]]}, trusted=[HOSTILE[3]]
    ).fit(X, y)
    answers = Answers(clf, X)
    quality = quality_of(
        answers, y, warnings=[HOSTILE[0], HOSTILE[1]], tuned=HOSTILE[0], full_model=0.5
    )
    text = render(
        gather(
            answers,
            title=HOSTILE[0],
            truth=y,
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
    assert HOSTILE[0] in page.locator("#tuned").inner_text()
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
def test_readable_in_light_and_dark(scheme, visit, page_of_cancer):
    page = visit(page_of_cancer, color_scheme=scheme)
    marked = ("body", ".lead", "#sentence", "#error", "h2", "#together", "dd")
    for selector in (*marked, "#rows td", "#rows th button", "td small", ".beside dt"):
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
    sizes = page.evaluate(
        "[...document.querySelectorAll('#curve .narrow text')].map((text) => "
        "text.getBoundingClientRect().height)"
    )
    assert min(sizes) >= 10
    assert page.locator("#curve .wide").is_hidden()


def test_by_keyboard_alone(visit, page_of_cancer):
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


def test_numbers_with_a_tolerance(visit):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    reg = FeaturePartitionRegressor(n_submodels=5).fit(X[::2], y[::2])
    answers = Answers(reg, X[1::2], tolerance=60)
    truth = y[1::2].to_numpy()
    page = visit(render(gather(answers, title="Diabetes", truth=truth)))
    proof = reg.certify(X[1::2], around=truth, tolerance=60)
    assert (
        page.locator("#share").inner_text() == f"{100 * certified_accuracy(truth, proof, 1):.1f} %"
    )
    low, high = reg.interval(X[1::2], 1)
    shown = {
        int(row): list(map(float, cell.split(" … ")))
        for row, cell in zip(cells(page, "row"), cells(page, "interval"), strict=True)
    }
    for row, (left, right) in shown.items():
        lowest, highest = low[row], high[row]
        assert left <= lowest
        assert highest <= right
        assert right - left <= (highest - lowest) * 1.001 + 0.01


def test_numbers_without_a_tolerance(visit):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    reg = FeaturePartitionRegressor(n_submodels=5).fit(X[::2], y[::2])
    page = visit(render(gather(Answers(reg, X[1::2]), title="Diabetes")))
    low, high = reg.interval(X[1::2], 1)
    assert float(page.locator("#share").inner_text()) == pytest.approx(
        np.median(high - low), rel=1e-4
    )
    page.locator("#radius").focus()
    page.keyboard.press("ArrowRight")
    assert "interval at r = 2" in page.locator("#rows thead").inner_text()


def test_rows_beyond_the_limit_are_those_with_the_largest_radius():
    X, y = load_digits(return_X_y=True)
    clf = FeaturePartitionClassifier(n_submodels=7).fit(X[:600], y[:600])
    facts = gather(Answers(clf, X[600:900]), title="Digits", most_rows=50)
    kept = [row["radius"] for row in facts["rows"]]
    assert kept == np.sort(clf.certify(X[600:900]).radius)[:50].tolist()
    assert facts["n_rows"] == 300
    assert "The 50 rows with the smallest radius, of 300" in render(facts)


@pytest.mark.parametrize(
    "end", [0.0, 1.23456789, -1.23456789, 123456.5, -0.0012345678, 1e300, 999999.9]
)
def test_an_interval_is_rounded_outward(end):
    assert _outward(end, math.floor) <= end <= _outward(end, math.ceil)


def test_embedded_data_cannot_end_its_element():
    text = embedded({"a": "</script><!--&\u2028", "b": ["<SCRIPT>"]})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"a": "</script><!--&\u2028", "b": ["<SCRIPT>"]}


# ---- one criterion ----


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    return (
        FeaturePartitionRegressor(tree, n_submodels=5).fit(X[::2], y[::2]),
        X[1::2],
        y[1::2].to_numpy(),
    )


@pytest.mark.parametrize("width", [{"relative": 0.4}, {"tolerance": 40.0}])
def test_with_the_truth_every_number_of_values_is_about_the_truth(diabetes, width):
    """Radii, sources and the collective table: as found by trying every choice, up and down."""
    reg, X, truth = diabetes
    answers = Answers(reg, X, **width)
    facts = gather(answers, title="Diabetes", truth=truth)
    proof, reach = reg.certify(X, around=truth, **width), np.asarray(reg.partition_.incidence())
    assert np.array_equal(answers.proof_of_truth(truth).radius, proof.radius)
    allowed = width.get("tolerance", width.get("relative", 0) * np.abs(truth))
    right = np.abs(reg.predict(X) - truth) <= allowed
    assert 0 < facts["right_now"] == right.sum() < len(truth)
    for row in facts["rows"]:
        assert row["radius"] == (proof.radius[row["row"]] if right[row["row"]] else None)

    votes = reg.ballots(X)

    def broken_by(units):
        fallen = np.zeros(len(truth), bool)
        for pushed in (-1e300, 1e300):
            attacked = np.where(reach[list(units)].any(axis=0), pushed, votes)
            fallen |= np.abs(reg.rule_.decide(attacked) - truth) > allowed
        return fallen & right

    alone = {name: broken_by([unit]) for unit, name in enumerate(reg.units_.names)}
    assert {source["name"]: source["hangs"] for source in facts["sources"]} == {
        name: fallen.sum() for name, fallen in alone.items()
    }
    for row in facts["rows"]:
        assert row["hangs_on"] == [name for name, fallen in alone.items() if fallen[row["row"]]]
    for one in facts["collective"][:2]:
        assert one["changed"] == max(
            broken_by(units).sum()
            for units in itertools.combinations(range(len(reach)), one["radius"])
        )
        assert one["alone"] == np.sum(right & (proof.radius < one["radius"]))
    near = (np.abs(votes - truth[:, None]) <= np.broadcast_to(allowed, truth.shape)[:, None]).mean(
        axis=0
    )
    for source in facts["sources"]:
        assert source["sides"] == pytest.approx(near[source["submodels"]].mean())


def test_a_column_of_huge_values_breaks_no_more_right_predictions_than_the_table_says(diabetes):
    reg, X, truth = diabetes
    facts = gather(Answers(reg, X, relative=0.4), title="Diabetes", truth=truth)
    right = np.abs(reg.predict(X) - truth) <= 0.4 * truth
    for column in X:
        pushed = reg.predict(X.assign(**{column: 1e6}))
        broken = right & (np.abs(pushed - truth) > 0.4 * truth)
        assert broken.sum() <= facts["collective"][0]["changed"]
        assert broken.sum() <= next(
            source["hangs"] for source in facts["sources"] if source["name"] == column
        )


def test_the_criterion_is_spelled_out_and_the_same_everywhere(visit, diabetes):
    reg, X, truth = diabetes
    facts = gather(Answers(reg, X, relative=0.4), title="Diabetes", truth=truth)
    page = visit(render(facts))
    assert "is right if it lies within 40 % of the truth" in page.locator("#criterion").inner_text()
    assert (
        f"{facts['right_now']} of {len(truth)} predictions are right now"
        in page.locator("#criterion").inner_text()
    )
    whole = page.locator("body").inner_text()
    assert not re.search(r"of (its|their) (own )?value|of the prediction", whole)
    one = facts["collective"][0]
    assert (
        f"breaks at most {one['changed']} of the {facts['right_now']} predictions that are right "
        "now" in page.locator("#together").inner_text()
    )
    assert (
        f"{one['changed']} of {facts['right_now']} right"
        in page.locator("#collective").inner_text()
    )
    assert cells(page, "radius")[0] == "0"  # rows without a radius come last, up and down
    page.locator("#rows th[data-name=radius] button").click()
    assert cells(page, "radius")[0] == str(
        max(row["radius"] for row in facts["rows"] if row["right"])
    )
    page.locator("#show").select_option("wrong")
    assert set(cells(page, "radius")) == {"not right"}
    own = render(gather(Answers(reg, X, relative=0.4), title="Diabetes"))
    page = visit(own)
    assert (
        "stays if it remains within 40 % of its own value"
        in page.locator("#criterion").inner_text()
    )
    assert "of the truth" not in page.locator("body").inner_text()
    assert "stay within 40 % of their own value" in page.locator("#together").inner_text()


def test_without_the_truth_every_number_of_values_is_about_the_prediction(diabetes):
    reg, X, _ = diabetes
    facts, proof = (
        gather(Answers(reg, X, tolerance=40), title="Diabetes"),
        reg.certify(X, tolerance=40),
    )
    assert [row["radius"] for row in facts["rows"]] == np.sort(proof.radius).tolist()
    assert facts["collective"][0]["alone"] == np.sum(proof.radius < 1)
    assert facts["right_now"] is None


def test_labels_say_what_counts_as_a_change(visit, page_of_cancer):
    page = visit(page_of_cancer)
    assert "stays if it remains the same label" in page.locator("#criterion").inner_text()
    assert "becomes another label, right or wrong before" in page.locator("body").inner_text()


def test_where_no_value_is_right_nothing_is_certified(visit, diabetes):
    reg, X, truth = diabetes
    facts = gather(Answers(reg, X, tolerance=1.0), title="Diabetes", truth=truth + 1000)
    assert facts["right_now"] == 0
    assert facts["curves"][0]["share"] == [0.0, 0.0]
    assert [one["changed"] for one in facts["collective"]] == [0] * 5
    assert visit(render(facts)).locator("#share").inner_text() == "0.0 %"


def test_bars_of_sources_are_shares_of_all_rows(visit, cancer, page_of_cancer):
    facts = cancer[2]
    page = visit(page_of_cancer)
    widths = page.evaluate(
        "[...document.querySelectorAll('#sources .bar rect')].map((bar) => "
        "bar.getAttribute('width'))"
    )
    assert widths == [
        f"{100 * source['hangs'] / facts['n_rows']:.1f}%" for source in facts["sources"]
    ]


# ---- without its script ----


def test_without_javascript_the_page_is_complete(visit, cancer, page_of_cancer):
    answers, truth, facts = cancer
    page, scripted = visit(page_of_cancer, java_script_enabled=False), visit(page_of_cancer)
    share = certified_accuracy(truth, answers.proof, 1)
    assert page.locator("#share").inner_text() == f"{100 * share:.1f} %"
    for place in (
        "#proven-title",
        "#share",
        "#error",
        "#sentence",
        "#radius-value",
        "#together",
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
    assert cells(page, "radius")[:25] == [str(r) for r in np.sort(answers.proof.radius)[:25]]
    table = page.locator("#numbers tbody tr")
    assert table.first.is_visible()
    for r, share in enumerate(facts["curves"][0]["share"]):
        assert table.nth(r).locator("td").first.inner_text().startswith(f"{100 * share:.1f} %")
    assert page.locator("#curve .wide").is_visible()
    assert page.locator("#curve .wide path").count() == len(facts["curves"])
    for control in ("#radius", "#find", "#show", "#before", "#after", ".hint.live"):
        assert page.locator(control).is_hidden()
        assert scripted.locator(control).is_visible()


@pytest.mark.parametrize("scripted", [True, False])
def test_accuracy_without_an_attack_is_not_called_proven(scripted, visit):
    """One submodel: nothing is proven at r = 1, so the page opens at r = 0."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    clf = FeaturePartitionClassifier(n_submodels=1, rule="plurality").fit(X[::2], y[::2])
    facts = gather(Answers(clf, X[1::2]), title="One", truth=y[1::2].to_numpy())
    assert facts["curves"][0]["share"][1] == 0
    page = visit(render(facts), java_script_enabled=scripted)
    assert page.locator("#proven-title").inner_text() == "With nobody attacking"
    assert page.locator("#radius-value").inner_text() == "0"
    assert "Nothing is proven at r = 0" in page.locator("#sentence").inner_text()


def test_a_model_with_a_constant_answer_has_the_same_page_with_and_without_a_script(visit):
    """Radius T everywhere: the curve does not fall before its end."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    clf = FeaturePartitionClassifier(DummyClassifier(), n_submodels=5).fit(X[::2], y[::2])
    answers, truth = Answers(clf, X[1::2]), y[1::2].to_numpy()
    text = render(
        gather(answers, title="Constant", truth=truth, quality=quality_of(answers, truth))
    )
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
        ]


# ---- what decides ----


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=21).fit(X[:900], y[:900])
    return Answers(clf, X[900:1200]), y[900:1200]


def duel(ballots, mine, other, margin):
    """The gap of two labels in full votes, submodel by submodel."""
    gap = 0.0
    for scores in ballots.astype(np.float64):
        lead = scores[mine] - scores[other]
        gap += np.rint(127 * min(1, max(-1, lead / margin))) / 127 if margin else np.sign(lead)
    return gap


@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_a_tournament_shows_its_closest_duel(visit, digits, margin):
    answers = digits[0].under(Tournament(margin=margin, prior=0.0))
    rows = gather(answers, title="Digits")["rows"]
    most_votes = np.array(
        [np.bincount(one.argmax(axis=1), minlength=10).argmax() for one in answers.ballots]
    )
    assert np.any(most_votes != answers.prediction)  # so votes would mislead
    told = set()
    for row in rows:
        gap = duel(answers.ballots[row["row"]], row["prediction"], row["rival"], margin)
        assert row["lead"] == pytest.approx(gap, abs=1e-4)
        kind, by = re.fullmatch(
            rf"(leads|behind|level with) {row['rival']}(?: by (.+) of 21 votes.*)?", row["decided"]
        ).groups()
        told.add(kind)
        assert kind == ("leads" if gap > 1e-9 else "behind" if gap < -1e-9 else "level with")
        if by is not None:
            assert (
                0 < abs(gap) < 0.05
                if by == "less than 0.1"
                else float(by) == pytest.approx(abs(gap), abs=0.0501)
            )
    assert "leads" in told
    page = visit(render(gather(answers, title="Digits")))
    assert page.locator("#rows th[data-name=votes]").inner_text() == "closest duel"
    assert page.locator("#rows td.votes small").all_inner_texts() == [
        row["decided"] for row in rows[:25]
    ]


@pytest.mark.parametrize(
    ("gap", "full", "told"),
    [(3, 127, "less than 0.1"), (160, 127, "1.3"), (254, 127, "2"), (3, 1, "3")],
)
def test_a_lead_is_told_in_full_votes_and_never_as_nothing(gap, full, told):
    assert _in_votes(gap, full) == told


def test_a_head_start_is_told_beside_the_duel(digits):
    head = [0.0] * 9 + [2.0]
    answers = digits[0].under(Tournament(margin=0.0, prior=0.0, offset=head))
    for row in gather(answers, title="Digits")["rows"]:
        ahead = head[row["prediction"]] - head[row["rival"]]
        assert (
            row["lead"]
            == duel(answers.ballots[row["row"]], row["prediction"], row["rival"], 0) + ahead
        )
        assert row["decided"].endswith("(2 head start included)") == (ahead > 0)
        assert row["decided"].endswith("(2 head start for 9 deducted)") == (ahead < 0)


def test_a_run_off_shows_its_second_round(visit, digits):
    answers = digits[0].under(RunOff())
    facts = gather(answers, title="Digits")
    for row in facts["rows"]:
        ballots = answers.ballots[row["row"]]
        mine = sum(scores[row["prediction"]] > scores[row["rival"]] for scores in ballots)
        other = sum(scores[row["prediction"]] < scores[row["rival"]] for scores in ballots)
        undecided = f", {21 - mine - other} undecided" if mine + other < 21 else ""
        assert row["decided"] == f"{mine} to {other} against {row['rival']}{undecided}"
        assert mine >= other
    assert visit(render(facts)).locator("#rows th[data-name=votes]").inner_text() == "round 2"


def test_a_plurality_shows_the_votes(digits):
    answers = digits[0].under(Plurality())
    for row in gather(answers, title="Digits")["rows"]:
        counts = np.bincount(answers.ballots[row["row"]].argmax(axis=1), minlength=10)
        told = dict(
            map(int, part.split(": ")) for part in row["decided"].removesuffix(" · …").split(" · ")
        )
        assert told == {label: counts[label] for label in told}
        assert next(iter(told)) == row["prediction"]
        assert row["lead"] == counts[row["prediction"]] - counts[row["rival"]]


# ---- dates, versions, sampling error ----


@pytest.mark.parametrize(
    ("hits", "n"), [(0, 1), (1, 1), (0, 40), (40, 40), (416, 540), (1, 10_000)]
)
def test_the_sampling_error_is_wilsons(hits, n):
    known = binomtest(hits, n).proportion_ci(method="wilson")
    assert wilson(hits / n, n) == pytest.approx((known.low, known.high), abs=1e-9)


def test_a_percentage_is_written_with_its_sampling_error(visit, cancer, page_of_cancer):
    assert estimate(416 / 540, 540) == "77.0 % (95 % interval 73.3 to 80.4, 540 rows)"
    answers, truth, _ = cancer
    page = visit(page_of_cancer)
    low, high = wilson(certified_accuracy(truth, answers.proof, 1), len(truth))
    assert (
        page.locator("#error").inner_text()
        == f"95 % interval {100 * low:.1f} to {100 * high:.1f}, {len(truth)} rows"
    )
    page.locator("#numbers summary").click()
    assert (
        f"{100 * low:.1f} to {100 * high:.1f}"
        in page.locator("#numbers tbody tr").nth(1).inner_text()
    )


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A stored model, the table it was fitted on, and another."""
    folder = tmp_path_factory.mktemp("stored")
    frame = load_breast_cancer(as_frame=True).frame
    frame[::2].to_csv(folder / "train.csv", index=False)
    frame[1::2].to_csv(folder / "new.csv", index=False)
    training = open_training(folder / "train.csv", "target")
    fitted = training.ensemble("logistic", Plurality(), 5, 0, verbose=0).fit(
        training.table, training.y
    )
    store.save(fitted, folder / "model", training.about("logistic"))
    return folder


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
    manifest = found.manifest | {"stored": "2024-02-03T04:05:06+01:00"}
    certified = replace(found, manifest=manifest)
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


# ---- what a sweep and an audit found ----


def test_a_sweep_recommends_what_beats_a_constant(visit, cancer, tmp_path):
    frame = load_breast_cancer(as_frame=True).frame
    frame.to_csv(tmp_path / "train.csv", index=False)
    grid = Grid(submodels=(1, 3, 5), rules=("plurality",))
    sweep_file(
        open_training(tmp_path / "train.csv", "target"),
        grid,
        tmp_path / "sweep",
        Trial(estimator="logistic"),
    )
    swept = read_sweep(tmp_path / "sweep")
    answers, truth, _ = cancer
    page = visit(render(gather(answers, title="Cancer", truth=truth, swept=swept)))
    assert len(swept["best"]) > 1
    for line, one in zip(page.locator("#recommended tbody tr").all(), swept["best"], strict=True):
        assert f"{100 * one['score']:.1f} %" in line.inner_text()
        assert one["fit"] in line.inner_text()
    names = ["one model on all columns", "3 submodels", "5 submodels", "recommended"]
    assert page.locator("#envelope-legend li").all_inner_texts() == names
    assert page.locator("#envelope .wide .reference-name").all_text_contents() == [
        "constant answer 50.0 %"
    ]
    none = gather(answers, title="Cancer", truth=truth, swept=swept | {"best": []})
    assert "none beats a constant answer" in visit(render(none)).locator("body").inner_text()


def test_what_an_audit_doubts_is_shown(visit, cancer):
    answers, truth, _ = cancer
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
    page = visit(render(gather(answers, title="Cancer", truth=truth, audited=audited)))
    section = page.locator("section", has=page.get_by_role("heading", name="Attacked for real"))
    assert HOSTILE[0] in section.inner_text()
    del audited["warnings"]  # as earlier versions wrote it
    assert "Attacked for real" in render(
        gather(answers, title="Cancer", truth=truth, audited=audited)
    )


# ---- narrow windows ----


def test_the_radius_is_in_sight_on_a_phone(visit):
    """However long the labels are, and without scrolling sideways."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = np.where(
        y,
        "a benign tumour that has a rather long name",
        "malignant_without_any_place_to_break_the_line",
    ).astype(object)
    clf = FeaturePartitionClassifier(n_submodels=9).fit(X[::2], y[::2])
    page = visit(
        render(gather(Answers(clf, X[1::2]), title="Cancer", truth=y[1::2])),
        viewport={"width": 400, "height": 800},
    )
    box, place = (
        page.locator("#rows td.radius").first.bounding_box(),
        page.locator("#rows-place").bounding_box(),
    )
    assert place["x"] <= box["x"]
    assert box["x"] + box["width"] <= place["x"] + place["width"] <= 400
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


# ---- empty proofs ----


@pytest.mark.parametrize("scripted", [True, False])
def test_warnings_stand_first_and_loud(scripted, visit, cancer):
    answers, truth, _ = cancer
    quality = {
        "warnings": ["99.9 % of the predictions are benign"],
        "on_training": True,
        "failed": 3,
    }
    page = visit(
        render(gather(answers, title="Cancer", truth=truth, quality=quality)),
        java_script_enabled=scripted,
    )
    alert = page.locator("[role=alert]")
    training, warning, failed = alert.locator("p").all_inner_texts()
    assert training.startswith("These are the rows the model was trained on:")
    assert warning == "99.9 % of the predictions are benign"
    assert failed.startswith("3 of 9 submodels could not be fitted")
    assert alert.bounding_box()["y"] == 0
    assert (
        alert.bounding_box()["y"] + alert.bounding_box()["height"]
        <= page.locator("h1").bounding_box()["y"]
    )


def test_what_a_flag_and_a_warning_both_tell_stands_there_once(cancer):
    quality = {
        "warnings": [ON_TRAINING, "3 of 9 submodels cast a fixed vote."],
        "on_training": True,
        "failed": 3,
    }
    banners = gather(cancer[0], title="Cancer", truth=cancer[1], quality=quality)["banners"]
    assert [banner["kind"] for banner in banners] == ["training", "warning"]
    assert banners[1]["text"] == quality["warnings"][1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_warnings_are_legible_in_large_letters(scheme, visit, cancer):
    answers, truth, _ = cancer
    quality = {
        "warnings": ["w"],
        "on_training": True,
        "constant": {"answer": "benign", "share": 1.0},
    }
    page = visit(
        render(gather(answers, title="Cancer", truth=truth, quality=quality)), color_scheme=scheme
    )
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


@pytest.mark.parametrize(
    ("constant", "full_model"), [(0.5, 0.51), (0.95, 0.96), (0.01, 0.02), (0.0, 1.0), (0.6, 0.6)]
)
@pytest.mark.parametrize("width", [360, 600])
def test_names_of_reference_lines_do_not_meet(constant, full_model, width):
    shares = sorted([constant, full_model], reverse=True)
    drawn = chart(
        [{"share": [0.7, 0.5, 0]}],
        "columns",
        width,
        references=[{"share": share, "name": "x"} for share in shares],
    )
    first, second = drawn["references"]
    assert abs(first["text_y"] - second["text_y"]) >= 12 or first["anchor"] != second["anchor"]
    assert all(10 < one["text_y"] < drawn["height"] for one in (first, second))


def test_certified_recall_follows_the_slider(visit, cancer, page_of_cancer):
    answers, truth, facts = cancer
    page = visit(page_of_cancer)
    page.locator("#radius").focus()
    for radius in range(1, len(facts["curves"][0]["share"])):
        held = (answers.prediction == truth) & (answers.proof.radius >= radius)
        recall = [float(held[truth == label].mean()) for label in ("benign", "malignant")]
        shown = page.locator("#recall .measure span").all_inner_texts()
        assert shown == [f"{100 * share:.1f} %" for share in [*recall, np.mean(recall)]]
        assert page.locator("#balanced").inner_text() == shown[-1]
        assert page.locator("#recall th .radius-now").inner_text() == str(radius)
        page.keyboard.press("ArrowRight")


def test_settings_chosen_on_attackable_rows_are_disclosed(visit, cancer):
    answers, truth, _ = cancer
    quality = {"tuned": "margin was chosen on rows of the training table."}
    page = visit(
        render(gather(answers, title="Cancer", truth=truth, quality=quality)),
        java_script_enabled=False,
    )
    section = page.locator("section", has=page.get_by_role("heading", name="What is not covered"))
    assert quality["tuned"] in section.inner_text()


def test_without_quality_nothing_is_said_about_it(visit, cancer):
    answers, truth, _ = cancer
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
                "tuned",
            ]
        ),
    ):
        page = visit(render(gather(answers, title="Cancer", truth=truth, quality=quality)))
        for place in (
            "[role=alert]",
            ".beside",
            "#recall",
            "#tuned",
            ".reference",
            "#numbers tfoot",
        ):
            assert page.locator(place).count() == 0
        assert page.locator("#beaten").is_hidden()


def test_a_label_without_rows_has_no_recall(visit, cancer):
    answers, truth, _ = cancer
    recall = [{"label": "benign", "rows": 0, "share": [None, float("nan")]}]
    page = visit(
        render(
            gather(
                answers,
                title="Cancer",
                truth=truth,
                quality={"recall": recall, "balanced": [None, None]},
            )
        )
    )
    assert page.locator("#recall .measure span").all_inner_texts() == ["\u2013", "\u2013"]  # dashes
    assert page.locator("#balanced").inner_text() == "\u2013"
