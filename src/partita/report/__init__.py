"""The report: one HTML file that shows what is proven, and needs nothing else.

Where it gets its numbers: ``_numbers`` (from the certified table), with ``_row_numbers``,
``_unit_numbers`` and ``_sweep_numbers``. ``_statements`` makes sentences of them, ``_chart``
curves, and ``_page`` fills the template ``page.html`` with its ``style.css`` and ``script.js``.
"""

from ._numbers import gather
from ._page import render
from ._write import write_report

__all__ = ["gather", "render", "write_report"]
