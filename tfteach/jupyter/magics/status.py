"""`%tfteach`: versions, devices and sessions."""

from __future__ import annotations

import html
from typing import Any

from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import magic_arguments, parse_argstring

from tfteach.explain.status import Status, status
from tfteach.jupyter import display


@magics_class
class StatusMagics(Magics):
    """Shows the state of this process."""

    shell: Any

    @magic_arguments()
    @line_magic
    def tfteach(self, line: str) -> None:
        """Show versions, devices (also simulated GPUs), threads, extras and sessions.

        Example:

            %tfteach
        """
        parse_argstring(self.tfteach, line)
        found = status()
        display.publish({"text/plain": str(found), "text/html": _table(found)})


def _table(found: Status) -> str:
    cell = "style='text-align:left;padding:1px 14px 1px 0;vertical-align:top'"
    rows = []
    for title, pairs in found.sections.items():
        for i, (name, said) in enumerate(pairs):
            head = f"<b>{html.escape(title)}</b>" if i == 0 else ""
            cells = (head, html.escape(name), html.escape(said))
            rows.append("<tr>" + "".join(f"<td {cell}>{c}</td>" for c in cells))
    return f"<table>{'</tr>'.join(rows)}</tr></table>"
