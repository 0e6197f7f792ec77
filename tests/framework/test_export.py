"""`tfteach/api/` holds what `@export` records; stale files are noticed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

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


def spoil(package: Path) -> list[str]:
    """Change generated files in each way; which, as the command names them."""
    api, signal = package / "api", package / "ops" / "signal" / "__init__.py"
    lines = (api / "sets.py").read_text().splitlines(keepends=True)
    (api / "sets.py").write_text("".join(lines[:-1]))
    (api / "gone.py").write_text("")
    (api / "spectral.py").unlink()
    signal.write_text(signal.read_text().replace('    "IFFT3D": "fft",\n', ""))
    return ["api/gone.py", "api/sets.py", "api/spectral.py", "ops/signal/__init__.py"]


def test_a_stale_api_is_told_and_rewritten(tmp_path: Path) -> None:
    copy = tmp_path / "tfteach"
    unneeded = shutil.ignore_patterns("__pycache__", "static")
    shutil.copytree(PACKAGE, copy, ignore=unneeded)
    files = spoil(copy)
    told = run_export(copy)
    assert told.returncode == 1, told.stderr
    assert told.stdout == f"stale: {' '.join(files)} - run: {COMMAND}\n"
    assert run_export(copy, "--write").returncode == 0
    generated = [*PACKAGE.glob("ops/*/__init__.py"), *(PACKAGE / "api").rglob("*.py")]
    for path in generated:
        again = copy / path.relative_to(PACKAGE)
        assert again.read_text() == path.read_text()
