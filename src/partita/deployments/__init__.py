"""Three deployments told from data to decision: a gas detector, a city's air network, loans.

Each answers the same questions on real data: accuracy beside one model, what is proven, what
attacks reach, what it costs, and what happens when a source goes silent. ``partita demo gas``,
``air`` and ``credit`` run them. ``under_attack`` attacks what users would do instead.
"""

from ._deployment import Deployment
from ._run import load_deployment, run_deployment
from ._under_attack import under_attack

__all__ = ["Deployment", "load_deployment", "run_deployment", "under_attack"]
