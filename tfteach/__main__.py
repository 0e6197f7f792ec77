"""`python -m tfteach run script.py [arguments]`: run a TensorFlow 1 program."""

from __future__ import annotations

import argparse
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
    run.add_argument("script", help="a Python file or a notebook")
    run.add_argument("arguments", nargs=argparse.REMAINDER, help="the script's own")
    options = parser.parse_args()
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
