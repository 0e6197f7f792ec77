"""`%tfteach`: versions, devices and sessions; and what `import tensorflow` imports."""

from __future__ import annotations

import html
from typing import Any

import traitlets
from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument

from tfteach.compat import finder
from tfteach.explain.devices.status import Status, imported_tensorflow, status
from tfteach.explain.runs.session_options import SessionOptions
from tfteach.jupyter import display
from tfteach.jupyter.magics.completion import complete
from tfteach.jupyter.magics.names import sessions_in
from tfteach.jupyter.magics.options import TEXT, magic_arguments, parsed

STANDS_IN = (
    "`import tensorflow` imports tfteach, because no TensorFlow is installed "
    "(switch: %tfteach tensorflow off)."
)


@magics_class
class TfteachMagics(Magics):
    """The state and the options of the extension."""

    shell: Any

    import_tensorflow = traitlets.Bool(
        True,
        help="`import tensorflow` imports tfteach where no TensorFlow is installed.",
    ).tag(config=True)

    _is_told = False  # once per process, also after %reload_ext

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        complete(shell, self.tfteach, lambda *_: ["tensorflow", "on", "off"])
        self._switch()

    @magic_arguments()
    @argument(
        "about",
        nargs="?",
        choices=["tensorflow"],
        help="tensorflow: show only which module `import tensorflow` imports.",
    )
    @argument(
        "state",
        nargs="?",
        choices=["on", "off"],
        help="on: `import tensorflow` imports tfteach where no TensorFlow is "
        "installed, as after %%load_ext. off: it never does.",
    )
    @TEXT
    @line_magic
    def tfteach(self, line: str) -> None:
        """Show versions, devices (also simulated GPUs), threads, extras and sessions.

        The options of all open sessions stand side by side, each with its effects;
        rows in which sessions differ are marked. In the configuration of IPython the
        switch is `c.TfteachMagics.import_tensorflow = False`. A TensorFlow that is
        installed is never replaced.

        Examples:

            %tfteach
            %tfteach tensorflow off
        """
        args = parsed(self.tfteach, line)
        if args.state is not None:
            self.import_tensorflow = args.state == "on"
        if args.about is not None:
            print(f"import tensorflow: {imported_tensorflow()}")
            return
        named = sessions_in(self.shell.user_ns)
        found = status(
            {s.number: f"{name} (session {s.number})" for name, s in named.items()}
        )
        if args.text:
            print(found)
        else:
            page = _table(found) + _options_table(found.options)
            display.publish({"text/plain": str(found), "text/html": page})

    def unload(self) -> None:
        """`import tensorflow` is as before `%load_ext`."""
        if finder.gives_way():
            finder.uninstall()

    @traitlets.observe("import_tensorflow")
    def _on_import_tensorflow(self, _: Any) -> None:
        self._switch()

    def _switch(self) -> None:
        if self.import_tensorflow:
            finder.install_if_missing(self._tell)
        else:
            finder.uninstall()

    @classmethod
    def _tell(cls) -> None:
        if not cls._is_told:
            cls._is_told = True
            display.publish({"text/plain": STANDS_IN})


def _table(found: Status) -> str:
    cell = "style='text-align:left;padding:1px 14px 1px 0;vertical-align:top'"
    rows = []
    for title, pairs in found.sections.items():
        for i, (name, said) in enumerate(pairs):
            head = f"<b>{html.escape(title)}</b>" if i == 0 else ""
            cells = (head, html.escape(name), html.escape(said))
            rows.append("<tr>" + "".join(f"<td {cell}>{c}</td>" for c in cells))
    return f"<table>{'</tr>'.join(rows)}</tr></table>"


DIFFERS = "background:rgba(255,170,0,.2);font-weight:600;"


def _options_table(options: SessionOptions) -> str:
    """The options of sessions side by side, as HTML that suits light and dark pages."""
    if not options.sessions:
        return ""
    cell = "text-align:left;padding:1px 14px 1px 6px;vertical-align:top;"
    heads = ["Session options", *options.sessions]
    lines = [f"<th style='{cell}'>{html.escape(head)}</th>" for head in heads]
    rows = [f"<tr>{''.join(lines)}</tr>"]
    for row in options.rows:
        style = cell + (DIFFERS if row.differs else "")
        indent = "" if row.field else "padding-left:26px;"
        name = html.escape(("≠ " if row.differs else "") + row.name)
        title = f" title='{html.escape(row.field)}'" if row.field else ""
        cells = [f"<td style='{style}{indent}'{title}>{name}</td>"]
        cells += [f"<td style='{style}'>{html.escape(v)}</td>" for v in row.values]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(rows)}</table>"
