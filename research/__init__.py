"""The paper's tables and figures, one command each: its numbers, ours, and the difference.

``make reproduce TABLE=22 SIZE=full`` in the repository, or ``python -m research 22 --size full``.
"""
