"""Formulas as MathML, converted while the site is built.

Browsers draw MathML themselves, so pages load no script and read the same without a network.
"""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)


def mathml(node: nodes.math | nodes.math_block, display: str) -> str:
    """Convert one formula; a command that the converter does not know is a warning."""
    converted = convert(node.astext(), display=display)
    if "\\" in converted:
        logger.warning(
            "unknown command in the formula %r", node.astext(), location=node
        )
    return converted


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write an inline formula."""
    self.body.append(mathml(node, "inline"))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a displayed formula, with its number if it has one."""
    self.body.append(self.starttag(node, "div", CLASS="formula"))
    if node.get("number"):
        self.body.append(
            f'<span class="eqno">({get_node_equation_number(self, node)})</span>'
        )
    self.body.append(f"{mathml(node, 'block')}</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the two visitors under the name that conf.py chooses."""
    app.add_html_math_renderer(
        "mathml", (visit_inline, None), (visit_block, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
