"""The paper's tables and figures, one command each: the paper's number, ours, and the
difference."""

from ._work import reproduce

__all__ = ["reproduce"]
