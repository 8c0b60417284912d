"""
Will my gas detector survive a bad sensor?
==========================================

A detector of 16 metal-oxide sensors tells six gases apart. It was trained on the first months of
its life and is used years later, when the sensors have aged: the drift is real (UCI's gas sensor
array, A. Vergara et al. 2012). Then a sensor is stuck, or two cables are swapped, or somebody owned
a sensor all along.

``partita demo gas`` runs this whole story. It needs about two minutes, on a sample of the rows.
"""

from partita.deployments import run_deployment
from partita.errors import InputError

try:
    story = run_deployment("gas")
    print(story.about())
except InputError:
    story = None
    print("This page was built without its data: partita data fetch gas_drift brings it.")

# %%
# The sensors are the *units*: whoever owns a sensor owns its eight columns, in every training row
# and in every row to predict.
#
# How accurate is it, beside your own single model?
# -------------------------------------------------
#
# The single model is what you would fit without this library: boosted or extremely randomized
# trees, whichever does better on the test rows themselves, so that it has the benefit of the doubt.
# All models learn from batches 1 to 3. The black bars are what is proven of the recommended
# ensemble: right, and still right whatever one sensor says. Look at the last batches. Drift does
# not only cost accuracy, it costs proofs first.
if story:
    print(story.answers["accuracy"])
    story.answers["accuracy"].plot()

# %%
# How much is proven, and what do both methods offer?
# ---------------------------------------------------
#
# :func:`partita.choose` fitted both methods in several sizes on batches 1 and 2 and judged them on
# batch 3: under drift, rows from the same months as the training rows promise too much. Even the
# next batch is optimistic. The left figure shows every setting there, the right one what the
# recommended model and the best of the other method, fitted on all three batches, prove months
# later. Under such drift many small submodels prove more than batch 3 suggests.
if story:
    print(story.answers["certified"])
    story.answers["certified"].plot()

# %%
# Does the proof hold when somebody really attacks?
# -------------------------------------------------
#
# The audit rewrites one sensor, in test rows and in training, fits again, and looks for a certified
# prediction that changed. It also checks what the proof rests on. Every bar ends at or right of the
# black line, and none may end left of it.
if story:
    print(story.answers["audit"])
    story.answers["audit"].plot()

# %%
# What if sensors are stuck, scaled, swapped, or have a backdoor?
# ---------------------------------------------------------------
#
# These are plain faults, and each model meets them in the sensors that are worst for it. The
# backdoor is different: one sensor was hijacked before training, told the truth plainly for months,
# and lies today. A single model has learnt to listen to it.
if story:
    print(story.answers["faults"])
    story.answers["faults"].plot()

# %%
# What happens when a sensor goes silent?
# ---------------------------------------
#
# A sensor that is *known* to be off is no liar. Members of the ensemble that need it abstain.
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
# This sentence is computed from the numbers above. With other data it would be another one.
if story:
    print(story)

# %%
# What to do next: see :doc:`what you could do instead </guide/alternatives>`, and how it does under
# the same attacks. Then put your own columns into ``units`` and call :func:`partita.choose`, or run
# ``partita sweep --radius 1`` on a file. :doc:`/guide/leaving-out` says when leaving sources out is
# the better method.
