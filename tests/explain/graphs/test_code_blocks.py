from __future__ import annotations

from pathlib import Path

from tfteach.explain.graphs.code_blocks import MOST_LINES, CodeBlock, blocks_around


def test_a_short_file_is_shown_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "short.py"
    file.write_text("# %%graph\n\na = 1\n\nb = 2\n\n\n")
    assert blocks_around([(str(file), 5)]) == [
        CodeBlock(str(file), 3, ("a = 1", "", "b = 2"))
    ]


def test_of_a_long_file_the_statements_around_the_lines(tmp_path: Path) -> None:
    file = tmp_path / "long.py"
    lines = ["@decorated", "def f(x):", "    return (", "        x)"]
    lines += [f"y{i} = {i}" for i in range(200)]
    lines += ["class A:", "    p = 1", "", "    def q(self):", "        return 1"]
    file.write_text("\n".join(lines))
    at = str(file)
    blocks = blocks_around([(at, 4), (at, 100), (at, 101), (at, 104), (at, 209)])
    assert [(block.first, block.last) for block in blocks] == [
        (1, 4),
        (100, 104),
        (208, 209),
    ]
    assert blocks[0].lines[0] == "@decorated"


def test_there_is_an_end_to_it(tmp_path: Path) -> None:
    file = tmp_path / "huge.py"
    body = "\n".join(f"    y{i} = {i}" for i in range(2 * MOST_LINES))
    file.write_text(f"def f():\n{body}\n\n\ndef g():\n{body}\n")
    blocks = blocks_around([(str(file), 3), (str(file), 3 * MOST_LINES)])
    assert sum(len(block.lines) for block in blocks) == MOST_LINES


def test_lines_without_a_source() -> None:
    assert blocks_around([("<nowhere>", 3)]) == []
