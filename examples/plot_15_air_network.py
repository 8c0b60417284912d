"""
What if somebody hijacks stations of a city's air network?
==========================================================

Twelve stations in Beijing measure the air every hour (UCI's multi-site air quality, S. Chen 2017).
The forecast is PM2.5 at one station in six hours, first as one of four classes, then as a number.
Stations fall silent all the time, and a station's operator, or an intruder in its feed, can write
anything: today, and into all of the history that a model learns from.

The stations are the units. Hour and month are trusted: nobody lies about the calendar. Models learn
from two years, settings are chosen on the third, and the fourth is to test on.
"""

from timeit import timeit

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.base import clone

from partita import CertifiedAccuracyDisplay, choose
from partita.attacks import apply_fault, audit, backdoor
from partita.datasets import load_beijing_air
from partita.ensemble import TableBoostingClassifier, TableBoostingRegressor
from partita.metrics import certified_accuracy

plt.rcParams |= {"figure.constrained_layout.use": True, "figure.figsize": (9, 3.6)}
data = load_beijing_air(station="Aotizhongxin", hours=6)
stations, learnt = data.units, data.X_train.index
rng = np.random.default_rng(0)
train = np.sort(rng.permutation(np.flatnonzero(learnt < "2015-03-01"))[:1500])
valid = np.sort(rng.permutation(np.flatnonzero(learnt >= "2015-03-01"))[:700])
test = np.sort(rng.permutation(len(data.y_test))[:1200])
X, X_valid, X_test = data.X_train.iloc[train], data.X_train.iloc[valid], data.X_test.iloc[test]
pm25 = data.y_train[train], data.y_train[valid], data.y_test[test]
CLASSES = np.array(["good", "fair", "poor", "hazardous"], dtype=object)
y, y_valid, y_test = (CLASSES[np.digitize(values, (35, 75, 150))] for values in pm25)

# %%
# How accurate is it, beside your own single model?
# -------------------------------------------------
#
# Every station sees nearly the same air: a vote of submodels with one station each loses nothing.
one = TableBoostingClassifier(random_state=0).fit(X, y)
settings = {"units": stations, "trusted": data.trusted, "submodels": [5, 7, 11], "groups": [6, 9]}
settings["learners"] = ["auto"]  # and no others, for the sake of time
choice = choose(X, y, X_valid, y_valid, radius=1, **settings)
clf = choice.best.estimator.fit(X, y)
proof = clf.certify(X_test)
alone, right = one.predict(X_test) == y_test, proof.correct(y_test)
proven = right & (proof.radius >= 1)
COLOURS = ["tab:red", "tab:blue", "black"]
table = pd.DataFrame({"one model": alone, "ensemble": right, "proven": proven})
season = np.array(["winter", "spring", "summer", "autumn"])[X_test.index.month % 12 // 3]
by_season = 100 * table.groupby(season).mean()
axes = by_season.plot.bar(color=COLOURS, ylabel="% of test rows", rot=0, ylim=(0, 110))
axes.legend(loc="upper center", ncols=3)
print(f"{choice.best.fit_options}: {right.mean():.1%} right, one model {alone.mean():.1%}")

# %%
# How much is proven, and what do both methods offer?
# ---------------------------------------------------
rivals = (each for each in choice.settings if each.method != choice.best.method)
rival = max(rivals, key=lambda setting: setting.certified)
other = clone(rival.estimator).fit(X, y).certify(X_test)
figure, (left, axes) = plt.subplots(1, 2, figsize=(10, 4.4))
choice.plot(left)
for setting, certificates in ((choice.best, proof), (rival, other)):
    draw = CertifiedAccuracyDisplay.from_certificates
    draw(y_test, certificates, name=setting.fit_options, ax=axes)
axes.axhline(alone.mean(), color="tab:red", linestyle=":")

# %%
# What if stations were hijacked long ago?
# ----------------------------------------
#
# The attacker owns the station of the forecast, then also those nearest to it by their values. In
# all of history they give the answer away, so a single model listens to them alone. Then they lie.
related = X.filter(like=" PM2.5").corr()["Aotizhongxin PM2.5"].sort_values(ascending=False)
nearest = [column.removesuffix(" PM2.5") for column in related.index]
hijacked = [[alone.mean(), right.mean(), right.mean()]]
for number in (1, 2, 3):
    history, rows = backdoor(X, y, X_test, y_test, nearest[:number], units=stations)
    lies = [clone(model).fit(history, y).predict(rows) for model in (one, clf)]
    certified = right & (proof.radius >= number)
    assert not (certified & (lies[1] != proof.prediction)).any()
    hijacked.append([*((each == y_test).mean() for each in lies), certified.mean()])
hijacked = 100 * pd.DataFrame(hijacked, columns=table.columns).rename_axis("hijacked stations")
axes = hijacked.plot(style="o-", color=COLOURS, ylim=(0, 100), xticks=range(4))

# %%
# Does the proof hold when somebody really attacks?
# -------------------------------------------------
findings = audit(clf, X_test, y_test, X, y, rows=80, most=1)
print(findings)
assert findings.passed

# %%
# What happens when a station goes silent?
# ----------------------------------------
#
# Members that need a silent station abstain; the single model gets missing values. "Proven" was
# promised beforehand. Real outages are hours in which a station reported no pollutant at all.
silence = []
for number in range(4):
    off = [str(name) for name in rng.permutation(list(stations))[:number]]
    gaps = apply_fault(X_test, "silent", off, units=stations)
    rows = one.predict(gaps) == y_test, clf.predict(X_test, silent=off) == y_test
    silence.append([each.mean() for each in (*rows, right & proof.survives(0, number))])
silence = 100 * pd.DataFrame(silence, columns=table.columns).rename_axis("silent stations")
axes = silence.plot(style=["s-", "o-", "D--"], color=COLOURS, ylim=(0, 100), xticks=range(4))
gases = ("PM2.5", "PM10", "SO2", "NO2", "CO", "O3")
names = [[f"{station} {gas}" for gas in gases] for station in clf.units_.names]
outages = np.column_stack([X_test[own].isna().all(axis=1) for own in names])
out = outages.any(axis=1)
quiet = clf.certify(X_test[out], silent=outages[out])
shares = [certified_accuracy(y_test[out], quiet, r) for r in (0, 1)]
print(f"{out.sum()} rows with a real outage: one model {alone[out].mean():.1%}, ensemble", end=" ")
print(f"{shares[0]:.1%}, proven against a liar as well {shares[1]:.1%}")

# %%
# And as a number?
# ----------------
#
# The forecast in micrograms, in a week of smog, and how far so many lying stations can move it.
learn, judge, truth = pm25
settings |= {"submodels": [7, 11], "groups": [6], "tolerance": 25}
reg = choose(X, learn, X_valid, judge, radius=1, **settings).best.estimator.fit(X, learn)
numbers = reg.certify(X_test, around=truth, tolerance=25)
single = TableBoostingRegressor(random_state=0).fit(X, learn).predict(X_test)
low, high = reg.interval(X_test, radius=1)
kept = [f"{certified_accuracy(truth, numbers, r):.1%}" for r in range(4)]
print(
    f"within 25: one model {(abs(single - truth) <= 25).mean():.1%}; whatever 0 to 3 stations say"
)
print(f"{', '.join(kept)}. One liar moves the median row by {np.median(high - low):.0f} at most.")
week = data.X_test.loc["2016-12-01":"2016-12-08"]
figure, axes = plt.subplots()
hours = week.index + np.timedelta64(6, "h")
for radius, alpha in ((3, 0.2), (1, 0.45)):
    band = reg.interval(week, radius=radius)
    axes.fill_between(hours, *band, alpha=alpha, color="tab:blue", label=f"{radius} may lie")
axes.plot(hours, reg.predict(week), label="forecast, 6 hours before")
axes.plot(week.index, week["Aotizhongxin PM2.5"], "k.", markersize=3, label="measured")
axes.legend(title="PM2.5, micrograms per cubic metre", ncols=2)

# %%
# What does it cost, and should I deploy it?
# ------------------------------------------
fit, alone_fit = (timeit(lambda m=m: clone(m).fit(X, y), number=3) for m in (clf, one))
ask, alone_ask = (timeit(lambda m=m: m.predict(X_test), number=3) for m in (clf, one))
most = int(np.sum(hijacked["proven"][1:] >= 50))
worth = "Deploy" if alone.mean() - right.mean() <= 0.02 else "If a proof is worth it, deploy"
print(f"{worth} {choice.best.fit_options}: {right.mean():.1%} of new rows are right and")
print(f"{proven.mean():.1%} stay right whatever one station says. Do not rely on it against more")
print(f"than {most} lying at once: less than half of the rows are proven there. Fitting takes")
print(
    f"{fit / alone_fit:.1f} and predicting {ask / alone_ask:.1f} times as long as with one model."
)

# %%
# What to do next: see :doc:`what you could do instead </guide/alternatives>` under attack.
# :doc:`/guide/sources` shows how to declare your own sources, and
# :doc:`/guide/silence` how a file or a service is certified while some of them are silent.
