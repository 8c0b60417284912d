"""The report: one HTML file that shows what is proven, and needs nothing else.

``_numbers`` gathers its numbers from the certified table. ``_statements`` makes sentences of them,
``_page`` draws curves and fills the template ``page.html`` with its ``style.css`` and
``script.js``, and ``_write`` does all of it for a stored model. ``_stress`` fills ``stress.html``
with what a stress test found, where proofs are only what stands beside it.
"""

from ._numbers import gather
from ._page import render
from ._stress import write_stress_report
from ._write import write_report

__all__ = ["gather", "render", "write_report", "write_stress_report"]
