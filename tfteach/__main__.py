"""`python -m tfteach run script.py [arguments]`: run a TensorFlow 1 script."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

import tfteach


def main() -> None:
    """Parse the command line and run what it says."""
    parser = argparse.ArgumentParser(prog="python -m tfteach", description=__doc__)
    parser.add_argument("--version", action="version", version=tfteach.__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run a script written for TensorFlow 1")
    run.add_argument("script", help="the Python file")
    run.add_argument("arguments", nargs=argparse.REMAINDER, help="the script's own")
    options = parser.parse_args()
    if not Path(options.script).is_file():
        parser.error(f"there is no file {options.script}")
    tfteach.install_as_tensorflow()
    sys.argv = [options.script, *options.arguments]
    sys.path.insert(0, str(Path(options.script).resolve().parent))
    runpy.run_path(options.script, run_name="__main__")


if __name__ == "__main__":
    main()
