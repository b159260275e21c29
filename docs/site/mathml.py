"""Formulas as MathML, which browsers draw themselves: no script has to be fetched."""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def _converted(node: nodes.Node, block: bool) -> str:
    """MathML of a formula. Brackets grow by themselves, so words for their size are dropped."""
    return str(tex2mathml(re.sub(r"\\[bB]igg?[lr]?(?![a-zA-Z])", "", node.astext()), as_block=block))


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(_converted(node, block=False))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math-block">{_converted(node, block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """The renderer, by the name `mathml`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
