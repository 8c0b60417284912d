"""
What if somebody hijacks stations of a city's air network?
==========================================================

Twelve stations in Beijing measure the air every hour (UCI's multi-site air quality, S. Chen 2017).
The forecast is PM2.5 at one station in six hours, first as one of four classes, then as a number.
Stations fall silent all the time, and a station's operator, or whoever broke into its feed, can
write anything: today, and into all of the history that a model learns from.

``partita demo air`` runs this whole story, on a sample of the hours.
"""

from partita.deployments import run_deployment
from partita.errors import InputError

try:
    story = run_deployment("air")
    print(story.about())
except InputError:
    story = None
    print("This page was built without its data: partita data fetch beijing_air brings it.")

# %%
# The stations are the units. Hour and month are trusted: nobody lies about the calendar.
#
# How accurate is it, beside your own single model?
# -------------------------------------------------
#
# Models learn from two years, settings are chosen on the third, and the fourth is to test on. Every
# station sees nearly the same air, so a vote of submodels that see one station each loses nothing.
if story:
    print(story.answers["accuracy"])
    story.answers["accuracy"].plot()

# %%
# How much is proven, and what do both methods offer?
# ---------------------------------------------------
if story:
    print(story.answers["certified"])
    story.answers["certified"].plot()

# %%
# What if stations were hijacked long ago?
# ----------------------------------------
#
# The attacker owns the station of the forecast, then also those nearest to it by their values. In
# all of history these stations give the answer away, so a single model learns to listen to them
# alone. Then they lie. The ensemble is fitted on the same hijacked history.
if story:
    print(story.answers["hijacked"])
    story.answers["hijacked"].plot()

# %%
# Does the proof hold when somebody really attacks?
# -------------------------------------------------
if story:
    print(story.answers["audit"])
    story.answers["audit"].plot()

# %%
# What happens when a station goes silent?
# ----------------------------------------
#
# The last line of the table replays real outages: hours of the test year in which a station
# reported no pollutant at all. They are declared as silence, row by row.
if story:
    print(story.answers["silence"])
    story.answers["silence"].plot()

# %%
# And as a number?
# ----------------
#
# The same forecast in micrograms. The bands show how far so many lying stations can move it, in a
# week of smog.
if story:
    print(story.answers["number"])
    story.answers["number"].plot()

# %%
# What does it cost?
# ------------------
if story:
    print(story.answers["cost"])
    story.answers["cost"].plot()

# %%
# The decision
# ------------
#
# This is computed from the numbers above.
if story:
    print(story)

# %%
# What to do next: see :doc:`what you could do instead </guide/alternatives>` under attack.
# :doc:`/guide/sources` shows how to declare your own sources, and
# :doc:`/guide/silence` how a file or a service is certified while some of them are silent.
