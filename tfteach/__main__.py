"""`python -m tfteach`: run a TensorFlow 1 program, or show a model's file.

python -m tfteach run script.py [arguments]
python -m tfteach run -m tensorflow.python.tools.freeze_graph [arguments]
python -m tfteach show FILE_OR_DIRECTORY [--html page.html]

The command `tfteach` does the same, also in a folder with a types.py, where no
`python -m` starts.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import tfteach


def main() -> None:
    """Parse the command line and run what it says."""
    parser = argparse.ArgumentParser(prog="python -m tfteach", description=__doc__)
    parser.add_argument("--version", action="version", version=tfteach.__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run a program written for TensorFlow 1")
    run.add_argument(
        "--show",
        action="store_true",
        help="print the program, translated if it is Python 2, instead of running it",
    )
    run.add_argument(
        "-m",
        "--module",
        action="store_true",
        help="the script is a tool of TensorFlow, such as "
        "tensorflow.python.tools.freeze_graph",
    )
    run.add_argument("script", help="a Python file, a notebook, or a module's name")
    run.add_argument("arguments", nargs=argparse.REMAINDER, help="the script's own")
    page = commands.add_parser("show", help="show a model's file as a web page")
    page.add_argument("path", help="a model, a SavedModel's directory, or a checkpoint")
    page.add_argument("--html", metavar="FILE", help="write the page to this file")
    page.add_argument("--text", action="store_true", help="print text instead")
    page.add_argument(
        "--graph",
        default="0",
        help="of several graphs, the number of one, or a part of its title",
    )
    options = parser.parse_args()
    if options.command == "show":
        # Only now: a script that is run needs no widgets.
        from tfteach.jupyter.show_file import show_from_command_line

        if problem := show_from_command_line(options):
            sys.exit(f"{parser.prog} show: {problem}")
        return
    if options.module:
        from tfteach.compat.running.tools import run_tool

        sys.path.insert(0, str(Path.cwd()))  # as `python -m` does
        tfteach.install_as_tensorflow()
        sys.exit(run_tool(options.script, options.arguments))
    if not Path(options.script).is_file():
        parser.error(f"there is no file {options.script}")
    from tfteach.compat.running.run import run as run_program
    from tfteach.compat.running.run import show

    if options.show:
        print(show(Path(options.script)), end="")
        return
    tfteach.install_as_tensorflow()
    run_program(Path(options.script), options.arguments)


if __name__ == "__main__":
    main()
