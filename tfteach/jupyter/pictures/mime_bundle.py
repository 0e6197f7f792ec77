"""A static picture and its text, by MIME type, for any front end."""

from __future__ import annotations

import base64
import html

from tfteach.jupyter.pictures.graph_svg import svg_of
from tfteach.jupyter.pictures.picture_contents import Still, text_of

# Applied in trusted notebooks only. The picture is hidden while a live view is mounted
# in the same cell. Once no kernel knows the widget, the picture remains, and the error
# "model not found" of JupyterLab is hidden instead. The second selector is VS Code's.
STYLE = """\
.jp-OutputArea:has(.tfteach-graph, .tfteach-diff)
  .jp-OutputArea-child:has(.tfteach-static),
.cell_container:has(.tfteach-graph, .tfteach-diff)
  .output_container:has(.tfteach-static) {
  display: none;
}
.jp-OutputArea:has(.tfteach-static) .lm-Panel.jp-OutputArea-output:not(:has(*)) {
  display: none;
}
.tfteach-static img { max-width: 100%; height: auto; }"""


def bundle_of(still: Still) -> dict[str, str]:
    """The SVG, the SVG inside HTML, and the text."""
    return bundle_with(text_of(still), svg_of(still))


def bundle_with(text: str, svg: str | None, beside: bool = False) -> dict[str, str]:
    """A picture (if there is one) and its text by MIME type.

    Args:
      text: the text.
      svg: the picture, or None.
      beside: True to show the text below the picture in HTML, instead of using it as
        alternative text only.
    """
    if svg is None:
        words = f"<pre>{html.escape(text)}</pre>"
        return {"text/plain": text, "text/html": static_html(words)}
    data = base64.b64encode(svg.encode()).decode()
    # An <img> passes the sanitizer of an untrusted notebook; inline SVG does not.
    said = text.partition("\n")[0] if beside else text
    image = (
        f'<img alt="{html.escape(said, quote=True)}" '
        f'src="data:image/svg+xml;base64,{data}">'
    )
    if beside:
        image += f"<pre>{html.escape(text)}</pre>"
    return {"text/plain": text, "image/svg+xml": svg, "text/html": static_html(image)}


def static_html(content: str) -> str:
    """HTML that is hidden while a live view is mounted."""
    return f'<style>{STYLE}</style><div class="tfteach-static">{content}</div>'
