"""The paper's tables and figures, one command each: its numbers, ours, and the difference."""

from ._reproduce import reproduce

__all__ = ["reproduce"]
