"""`tfteach/api/` holds what `@export` records; stale files are noticed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "tfteach"
COMMAND = "python tfteach/framework/export.py --write"


def run_export(package: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, package / "framework" / "export.py", *words],
        capture_output=True,
        text=True,
    )


def test_api_is_in_step() -> None:
    done = run_export(PACKAGE)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\nrun: {COMMAND}"


def drop_a_name(api: Path) -> None:
    lines = (api / "sets.py").read_text().splitlines(keepends=True)
    (api / "sets.py").write_text("".join(lines[:-1]))


def keep_a_module_that_is_gone(api: Path) -> None:
    (api / "gone.py").write_text("")


def lack_a_module(api: Path) -> None:
    (api / "sets.py").unlink()


def drop_an_op(api: Path) -> None:
    index = api.parent / "ops" / "signal" / "__init__.py"
    index.write_text(index.read_text().replace('    "IFFT3D": "fft",\n', ""))


@pytest.mark.parametrize(
    ("spoil", "file"),
    [
        (drop_a_name, "api/sets.py"),
        (keep_a_module_that_is_gone, "api/gone.py"),
        (lack_a_module, "api/sets.py"),
        (drop_an_op, "ops/signal/__init__.py"),
    ],
)
def test_a_stale_api_is_told_and_rewritten(
    spoil: Callable[[Path], None], file: str, tmp_path: Path
) -> None:
    copy = tmp_path / "tfteach"
    unneeded = shutil.ignore_patterns("__pycache__", "static")
    shutil.copytree(PACKAGE, copy, ignore=unneeded)
    spoil(copy / "api")
    told = run_export(copy)
    assert told.returncode == 1, told.stderr
    assert told.stdout == f"stale: {file} - run: {COMMAND}\n"
    assert run_export(copy, "--write").returncode == 0
    assert run_export(copy).returncode == 0
    generated = [*PACKAGE.glob("ops/*/__init__.py"), *(PACKAGE / "api").rglob("*.py")]
    for path in generated:
        again = copy / path.relative_to(PACKAGE)
        assert again.read_text() == path.read_text()
