"""Scripts as users of TensorFlow 1 write them: the same output, graph and collections.

`oracle/` holds what TensorFlow 1.15.5 did with the files in `programs/`; record.py
says how it was made.
"""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.scripts.record import DIGITS
from tfteach.compat.examples import write_synthetic_mnist

HERE = Path(__file__).parent
NUMBER = re.compile(r"-?(?:\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+|inf|nan)")


def words(line: str) -> str:
    """A line without what NumPy's versions print differently."""
    line = re.sub(r"np\.\w+?(?:_)?\(([^()]*)\)", r"\1", line)
    return re.sub(r"\s+", "", line)


def assert_same_line(ours: str, theirs: str) -> None:
    if ours == theirs:
        return
    # TensorFlow's negation gives 0.0 for 0.0 in some types, IEEE 754 says -0.0.
    ours, theirs = (words(line).replace("-0.0,", "0.0,") for line in (ours, theirs))
    assert NUMBER.sub("#", ours) == NUMBER.sub("#", theirs)
    pairs = zip(NUMBER.findall(ours), NUMBER.findall(theirs), strict=True)
    for mine, wanted in pairs:
        assert float(mine) == pytest.approx(
            float(wanted), rel=2e-5, abs=2e-5, nan_ok=True
        ), theirs


@pytest.mark.parametrize(
    "path", sorted((HERE / "oracle").glob("*.json")), ids=lambda p: p.stem
)
def test_script_does_what_it_does_in_tensorflow(path: Path, tmp_path: Path) -> None:
    program = HERE / "programs" / f"{path.stem}.py"
    result = tmp_path / "ours.json"
    if "mnist" in path.stem:
        with contextlib.chdir(tmp_path):
            write_synthetic_mnist(**DIGITS)
    done = subprocess.run(
        [sys.executable, HERE / "record.py", program, result, "tfteach"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    ours: dict[str, Any] = json.loads(result.read_text())
    theirs: dict[str, Any] = json.loads(path.read_text())
    assert ours["nodes"] == theirs["nodes"]
    assert ours["collections"] == theirs["collections"]
    for mine, wanted in zip(ours["output"], theirs["output"], strict=True):
        assert_same_line(mine, wanted)


def test_every_script_has_been_run_by_tensorflow() -> None:
    programs = {path.stem for path in (HERE / "programs").glob("*.py")}
    assert programs == {path.stem for path in (HERE / "oracle").glob("*.json")}
