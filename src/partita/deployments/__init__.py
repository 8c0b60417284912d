"""Deployments told from start to end on real data, and what users would do instead, under attack.

Everything here is built from the public parts of partita; nothing else depends on it.
"""

from ._deployment import Deployment
from ._under_attack import under_attack

__all__ = ["Deployment", "under_attack"]
