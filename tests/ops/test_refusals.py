"""Calls that TensorFlow refuses: its errors, from every `raise` in tfteach/ops."""

from __future__ import annotations

import pytest

from tests.ops import refusal
from tests.ops.case import import_families

import_families()
# Errors that no call of a table can show: module -> function -> why.
NOT_SHOWN = {
    "core.constant": {
        "constant_node": "takes 2 GB: tests/test_bad_input.py lowers the limit",
        "_eager_constant": "in eager programs: tests/golden/eager_calls",
        "_eagerly_shaped": "likewise",
    },
    "debug.summary_writer_ops": {
        "_parsed": "of a writer with a file: tests/lib/contrib/summary",
    },
    "data.shuffling": {
        "ShuffledAnew.check_stateless": "in eager programs: tests/scripts/eager",
    },
    "data.tables": {
        "CsvElements._decoded": "of files' texts: tests/ops/data/test_csv_files.py",
    },
    "linalg.matmul": {
        "MatMul.compute_on_card": "on a card: tests/framework/test_card_products.py",
    },
    "io.example_wire": {
        "_walk_list": "an error only if the feature is wanted, by values_of",
        "_tagged_parts": "likewise",
        "values_of": "reported by parse_example.check_kinds",
        "_column": "of a record with another's layout: test_example_wire.py",
    },
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("module", refusal.modules())
def test_calls_are_refused_as_by_tensorflow(module: str) -> None:
    """Each call has its recorded answer, and together they reach every `raise`."""
    reached: set[tuple[str, int]] = set()
    for call, answer in refusal.table(module).items():
        assert answer is not None, f"ask TensorFlow about {call}"
        theirs, ours = answer if isinstance(answer, list) else (answer, answer)
        got, lines = refusal.outcome(call)
        reached |= lines
        assert refusal.says(got, ours), (call, got, ours)
        assert ours != refusal.ACCEPTED, f"{call} is no refusal"
        if isinstance(answer, list):
            assert not refusal.says(got, theirs), f"{call}: as TensorFlow says it now"
    missing = refusal.unreached(module, reached)
    allowed = NOT_SHOWN.get(module, {})
    assert allowed.keys() <= set(missing.values())
    missing = {line: name for line, name in missing.items() if name not in allowed}
    assert not missing, (
        f"no call reaches these lines: add calls, with null, to "
        f"{refusal.table_path(module)}, and run python -m tests.ops.refusal --ask"
    )


def test_tables_belong_to_modules() -> None:
    for module in refusal.modules():
        assert refusal.source_path(module).exists()
