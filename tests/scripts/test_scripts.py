"""Scripts as users of TensorFlow 1 write them: the same output, graph and collections.

`oracle/` holds what TensorFlow 1.15.5 did with the files in `programs/`; record.py
says how it was made.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.forked_programs import Forks, forked_programs
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


RECORD = """
import json, os, warnings
from tests.scripts.record import record
os.chdir({folder!r})
warnings.simplefilter("ignore")
print(json.dumps(record({program!r})))
"""


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    with forked_programs(tmp_path_factory.mktemp("printed")) as forks:
        yield forks


@pytest.mark.parametrize(
    "path", sorted((HERE / "oracle").glob("*.json")), ids=lambda p: p.stem
)
def test_script_does_what_it_does_in_tensorflow(
    path: Path, tmp_path: Path, forks: Forks
) -> None:
    program = HERE / "programs" / f"{path.stem}.py"
    if "mnist" in path.stem:
        with contextlib.chdir(tmp_path):
            write_synthetic_mnist(**DIGITS)
    printed = forks.run(RECORD.format(folder=str(tmp_path), program=str(program)))
    ours: dict[str, Any] = json.loads(printed)
    theirs: dict[str, Any] = json.loads(path.read_text())
    assert ours["nodes"] == theirs["nodes"]
    assert ours["collections"] == theirs["collections"]
    for mine, wanted in zip(ours["output"], theirs["output"], strict=True):
        assert_same_line(mine, wanted)


def test_every_script_has_been_run_by_tensorflow() -> None:
    programs = {path.stem for path in (HERE / "programs").glob("*.py")}
    assert programs == {path.stem for path in (HERE / "oracle").glob("*.json")}
