"""Names that attack the page, and ways to look at it."""

import numpy as np

from partita.metrics import worst_case_precision

HOSTILE = (
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    "{{ 7 * 7 }} {% raw %}",
    "\u2028 \u2029 <!-- & ' \"",
    "<b>bold</b>",
    "plain",
)
CONTRAST = """(selector) => {
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
  const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => [r, g, b].map((v) => linear(v / 255))
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  let place = document.querySelector(selector);
  const ink = light(numbers(getComputedStyle(place).color));
  const clear = (one) => (numbers(getComputedStyle(one).backgroundColor)[3] ?? 1) === 0;
  while (place && clear(place)) place = place.parentElement;
  const paper = light(numbers(getComputedStyle(place ?? document.body).backgroundColor));
  return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
}"""


def quality_of(certified, truth, **more):
    """What the report is told about a classifier's quality, counted the slow way."""
    radius = certified.proof.radius
    radii = range(radius.max() + 1)
    held = {r: (certified.prediction == truth) & (radius >= r) for r in radii}
    labels, counts = np.unique(truth, return_counts=True)
    named = certified.prediction
    recall = [
        {
            "label": label,
            "rows": int(count),
            "share": [float(held[r][truth == label].mean()) for r in radii],
            "predicted": int((named == label).sum()),
            "kept": [int(((named == label) & (radius >= r)).sum()) for r in radii],
            "precision": [worst_case_precision(truth, certified.proof, label, r) for r in radii],
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


def cells(page, column):
    names = page.locator("#rows thead th").all_inner_texts()
    return page.locator(
        f"#rows tbody td:nth-child({[name.split(' ')[0] for name in names].index(column) + 1})"
    ).all_inner_texts()
