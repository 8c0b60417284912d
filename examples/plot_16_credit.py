"""
When should I not rely on a proof?
==================================

Nearly ten thousand loans, of which one in twenty goes bad, and a credit bureau's feeds that may be
wrong. A few columns say nearly everything, and the label that matters is rare. This is the honest
case: most of what can be certified here is worth little, and this page shows how to see that.

The units are feeds: five of the bureau, the income check, the employer, the address. What the
lender decides itself (amount, term, rate, grade) is trusted.
"""

from timeit import timeit

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.metrics import recall_score
from sklearn.utils.class_weight import compute_sample_weight

from partita import CertifiedAccuracyDisplay, choose, search_offsets
from partita.attacks import apply_fault, audit
from partita.datasets import load_lending_club
from partita.ensemble import TableBoostingClassifier, TableTreesClassifier
from partita.metrics import certified_balanced_accuracy, certified_recall, worst_case_precision

plt.rcParams["figure.constrained_layout.use"] = True
data = load_lending_club()
feeds, terms = data.units, data.trusted
order = np.random.default_rng(0).permutation(len(data.y_train))
train, valid = order[:4500], order[4500:6900]
X, y = data.X_train.iloc[train], data.y_train[train]
X_valid, y_valid = data.X_train.iloc[valid], data.y_train[valid]
X_test, y_test = data.X_test, data.y_test

# %%
# How accurate is it, beside your own single model?
# -------------------------------------------------
#
# Accuracy is the wrong question: always answering "good" is right nearly always. So the single
# model gives both labels the same weight, settings are chosen by the mean certified recall, and the
# bars are drawn by what became of the loan.
weight = compute_sample_weight("balanced", y)
trees = [TableBoostingClassifier(random_state=0), TableTreesClassifier(100, random_state=0)]
fitted = [tree.fit(X, y, sample_weight=weight) for tree in trees]
one = max(fitted, key=lambda tree: recall_score(y_test, tree.predict(X_test), average="macro"))
settings = {"want": "balanced", "submodels": [3, 5, 7], "groups": [5, 8], "learners": ["auto"]}
choice = choose(X, y, X_valid, y_valid, 1, units=feeds, trusted=terms, **settings)
clf = choice.best.estimator.fit(X, y)
proof = clf.certify(X_test)
alone, right = one.predict(X_test) == y_test, proof.correct(y_test)
proven = right & (proof.radius >= 1)
COLOURS = ["tab:red", "tab:blue", "black"]
table = pd.DataFrame({"one model": alone, "ensemble": right, "proven": proven})
by_label = 100 * table.groupby(y_test).mean()
axes = by_label.plot.bar(color=COLOURS, figsize=(7.2, 3.4), ylabel="% of test rows", rot=0)
always = (y_test == "good").mean()
print(f"always good: {always:.1%} right; {choice.best.fit_options}: {right.mean():.1%};", end=" ")
print(f"one model {alone.mean():.1%}")

# %%
# What is proven of the bad loans?
# --------------------------------
#
# The dashed line is the constant answer, which no attacker can change. One of the two methods
# certifies nearly everything because it says "good" to everybody. ``choose`` notices, and
# ``partita certify``, the report and the audit warn of it.
rivals = [each for each in choice.settings if each.method != choice.best.method]
rival = max(rivals, key=lambda setting: (setting.certified, setting.accuracy))
other = clone(rival.estimator).fit(X, y).certify(X_test)
print(f"{rival.fit_options} is nearly a constant: {rival.nearly_constant}")
figure, (left, axes) = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True)
for setting, certificates in ((choice.best, proof), (rival, other)):
    display = CertifiedAccuracyDisplay.from_certificates
    display(y_test, certificates, name=setting.fit_options, ax=left)
    axes.plot([certified_recall(y_test, certificates, r)["bad"] for r in range(8)], "o-")
left.axhline(always, color="black", linestyle="--")
left.set_title("all loans: looks proven")
axes.set(title="bad loans: what matters", xlabel="feeds an attacker may own")
recall, found = (certified_recall(y_test, proof, r)["bad"] for r in (1, 0))
precision, at_worst = (worst_case_precision(y_test, proof, "bad", r) for r in (0, 1))

# %%
# Can a lower threshold help?
# ---------------------------
#
# :func:`partita.search_offsets` gives the rare label a head start in the vote; the proof counts it
# in. More bad loans are found and proven, and more good ones are suspected.
offsets = [-0.5, 0.0, 0.5, 1.0, 1.5, 2.0]
lower = search_offsets(clf, X_valid, y_valid, "bad", offsets=offsets, radius=1)
shown = ["recall", "certified_recall", "precision", "worst_case_precision"]
shares = 100 * pd.DataFrame(lower.rows).set_index("offset")[shown]
axes = shares.plot(style=["o-", "D--", "s:", "x:"], figsize=(7.2, 3.4))
axes.set(xlabel="head start of bad, in votes", ylabel="%", ylim=(0, 100))

# %%
# What is it worth to secure a feed by other means?
# -------------------------------------------------
#
# A trusted column is seen by every submodel. That makes all of them better, but it is an
# assumption. With the bureau trusted as well, too few feeds are left for a proof.
bureau = [name for name in feeds if name not in ("income check", "employer", "address")]
rest = {name: own for name, own in feeds.items() if name not in bureau}
cases = {
    "nothing": ({**feeds, "terms": terms}, ()),
    "the lender's terms": (feeds, terms),
    "terms and bureau": (rest, (*terms, *(column for name in bureau for column in feeds[name]))),
}
trust = {}
for name, (units, trusted) in cases.items():
    size = min(clf.n_submodels, len(units))
    model = clone(clf).set_params(units=units, trusted=trusted, n_submodels=size)
    secured = model.fit(X, y).certify(X_test)
    trust[name] = [100 * certified_recall(y_test, secured, r)["bad"] for r in (0, 1)]
    trust[name].append(100 * certified_balanced_accuracy(y_test, secured, 1))
columns = ["bad loans found", "found and proven", "mean certified recall"]
trust = pd.DataFrame(trust, index=columns).T
axes = trust.plot.bar(figsize=(7.2, 3.4), rot=0, ylabel="%", xlabel="what is trusted")

# %%
# Does the proof hold when somebody really attacks, and when a feed goes silent?
# ------------------------------------------------------------------------------
#
# The audit tries to break it. Silent feeds are known to be missing: submodels that need one
# abstain, and the single model gets missing values.
kinds = ["evasion", "poisoning", "checks"]
findings = audit(clf, X_test, y_test, X, y, rows=80, most=1, attacks=kinds)
print(findings)
assert findings.passed
rng = np.random.default_rng(0)
for number in range(1, 4):
    off = [str(name) for name in rng.permutation(list(feeds))[:number]]
    gaps = apply_fault(X_test, "silent", off, units=feeds)
    shares = one.predict(gaps) == y_test, clf.predict(X_test, silent=off) == y_test
    kept = right & proof.survives(0, number)
    print(f"{number} silent: one model, ensemble, proven beforehand:", end=" ")
    print(*(f"{share.mean():.1%}" for share in (*shares, kept)))

# %%
# What does it cost, and should I deploy it?
# ------------------------------------------
#
# Computed from the numbers above; of the times, only the ratios mean something elsewhere.
fit, alone_fit = (timeit(lambda m=m: clone(m).fit(X, y), number=3) for m in (clf, one))
ask, alone_ask = (timeit(lambda m=m: m.predict(X_test), number=3) for m in (clf, one))
print(
    f"Fitting takes {fit / alone_fit:.1f}, predicting {ask / alone_ask:.1f} times one model's time."
)
if recall >= 0.5 and at_worst >= 0.5:
    print(f"Deploy it: {recall:.1%} of the bad loans are found and proven against one feed.")
else:
    print("Do not decide about a loan by this model alone: against one wrong feed,")
    print(f"{recall:.1%} of the bad loans are found and proven, and an alarm is right in")
    print(f"{precision:.1%} of cases, at worst in {at_worst:.1%}. Use it to order cases for")
    print(f"people: it finds {found:.1%} of the bad loans, one model {by_label.iloc[0, 0]:.1f} %.")
    print(f"Nothing trusted, {trust.iloc[0, 1]:.1f} % are proven: the proof rests on the lender's")
    print("terms. Make sure that nobody else can write them.")

# %%
# What to do next: see :doc:`what you could do instead </guide/alternatives>` under attack.
# :doc:`/guide/rare` says how to look at rare labels in your own table, with
# ``partita certify`` and ``partita choose --want balanced``.
