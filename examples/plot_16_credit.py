"""
When should I not rely on a proof?
==================================

Nearly ten thousand loans, of which one in twenty goes bad, and a credit bureau's feeds that may be
wrong. A few columns say nearly everything, and the label that matters is rare. This is the honest
case: most of what can be certified here is worth little, and this page shows how to see that.

``partita demo credit`` runs this whole story.
"""

from partita.deployments import run_deployment
from partita.errors import InputError

try:
    story = run_deployment("credit")
    print(story.about())
except InputError:
    story = None
    print("This page was built without its data: partita data fetch lending_club brings it.")

# %%
# The units are feeds: five of the bureau, the income check, the employer, the address. What the
# lender decides itself (amount, term, rate, grade) is trusted.
#
# How accurate is it, beside your own single model?
# -------------------------------------------------
#
# Accuracy is the wrong question: always answering "good" is right nearly always. So the single
# model gives both labels the same weight, settings are chosen by the mean recall, and the bars are
# drawn by what became of the loan.
if story:
    print(story.answers["accuracy"])
    story.answers["accuracy"].plot()

# %%
# How much is proven, and what do both methods offer?
# ---------------------------------------------------
#
# The dashed line is the constant answer, which no attacker can change. A curve below it may still
# be useful, but certified accuracy cannot show that.
if story:
    print(story.answers["certified"])
    story.answers["certified"].plot()

# %%
# What is proven of the bad loans?
# --------------------------------
#
# The same two models, all loans on the left and bad loans on the right. One of them certifies
# nearly everything because it says "good" to everybody. The library says so: ``fit`` warns with an
# :class:`partita.EmptyProofWarning` where nearly all training rows get one label, and
# ``partita certify``, the report and the audit do where nearly all certified rows have one.
if story:
    print(story.answers["rare"])
    story.answers["rare"].plot()

# %%
# Can a lower threshold help?
# ---------------------------
#
# :func:`partita.search_offsets` gives the rare label a head start in the vote; the proof counts it
# in. More bad loans are found and proven, and more good ones are suspected.
if story:
    print(story.answers["thresholds"])
    story.answers["thresholds"].plot()

# %%
# What is it worth to secure a feed by other means?
# -------------------------------------------------
#
# A trusted column is seen by every submodel. That makes all of them better, but it is an
# assumption: a rate that is computed from the bureau's feeds is not out of their reach.
if story:
    print(story.answers["trust"])
    story.answers["trust"].plot()

# %%
# Does the proof hold when somebody really attacks?
# -------------------------------------------------
if story:
    print(story.answers["audit"])
    story.answers["audit"].plot()

# %%
# What happens when a feed goes silent?
# -------------------------------------
if story:
    print(story.answers["silence"])
    story.answers["silence"].plot()

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
# :doc:`/guide/rare` says how to look at rare labels in your own table, with
# ``partita certify`` and ``partita sweep --score balanced``.
