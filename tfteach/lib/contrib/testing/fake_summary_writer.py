"""A writer that keeps in memory what it is given, for tests of hooks.

Source: contrib/testing/python/framework/fake_summary_writer.py (API).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from unittest import TestCase

from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.protos import pool
from tfteach.framework.type_aliases import PathLike, Proto
from tfteach.lib.files.file_writer import FileWriterCache


@export("contrib.testing.FakeSummaryWriter")
class FakeSummaryWriter:
    """Takes the place of `tf.summary.FileWriter`, and writes no file.

    Args:
      logdir: the directory that a FileWriter would have.
      graph: its graph.

    Example:
      >>> tf.contrib.testing.FakeSummaryWriter.install()
      >>> writer = tf.summary.FileWriterCache.get("logs")
      >>> hook = tf.train.SummarySaverHook(1, summary_writer=writer, summary_op=op)
      >>> writer.summaries  # {step: [Summary, ...]}
      {}
      >>> tf.contrib.testing.FakeSummaryWriter.uninstall()

    Source: contrib/testing/python/framework/fake_summary_writer.py (API).
    """

    _replaced: ClassVar[Any] = None

    @classmethod
    def install(cls) -> None:
        """Let `tf.summary.FileWriterCache` create such writers for new directories.

        Raises:
          ValueError: it already does.
        """
        if cls._replaced is not None:
            raise ValueError("FakeSummaryWriter already installed.")
        cls._replaced, FileWriterCache.writer_class = FileWriterCache.writer_class, cls

    @classmethod
    def uninstall(cls) -> None:
        """Undo `install`; writers that are in the cache stay there.

        Raises:
          ValueError: there is nothing to undo.
        """
        if cls._replaced is None:
            raise ValueError("FakeSummaryWriter not installed.")
        FileWriterCache.writer_class, cls._replaced = cls._replaced, None

    def __init__(self, logdir: PathLike, graph: Graph | None = None) -> None:
        self._logdir = logdir
        self._graph = graph
        self._summaries: dict[int, list[Any]] = {}
        self._added_graphs: list[Graph] = []
        self._added_meta_graphs: list[Any] = []
        self._added_session_logs: list[Any] = []
        self._added_run_metadata: dict[str, Any] = {}

    @property
    def summaries(self) -> dict[int, list[Proto]]:
        """The Summaries by global step, in the order in which they came."""
        return self._summaries

    def add_summary(self, summ: Proto | bytes, current_global_step: int) -> None:
        """Keep a Summary, or one as a summary op returns it."""
        if isinstance(summ, bytes):
            summ = pool.message("Summary").FromString(summ)
        self._summaries.setdefault(current_global_step, []).append(summ)

    def add_graph(
        self,
        graph: Graph,
        global_step: int | None = None,
        graph_def: Proto | None = None,
    ) -> None:
        """Keep a graph.

        Raises:
          ValueError: a GraphDef is given; a FileWriter's `graph_def` is deprecated.
        """
        if graph_def is not None:
            raise ValueError(f"Unexpected graph_def {graph_def}.")
        self._added_graphs.append(graph)

    def add_meta_graph(
        self, meta_graph_def: Proto, global_step: int | None = None
    ) -> None:
        """Keep a MetaGraphDef."""
        self._added_meta_graphs.append(meta_graph_def)

    def add_session_log(
        self, session_log: Proto, global_step: int | None = None
    ) -> None:
        """Keep a SessionLog."""
        self._added_session_logs.append(session_log)

    def add_run_metadata(
        self, run_metadata: Proto, tag: str, global_step: int | None = None
    ) -> None:
        """Keep a RunMetadata under its tag."""
        self._added_run_metadata[tag] = run_metadata

    def assert_summaries(
        self,
        test_case: TestCase,
        expected_logdir: PathLike | None = None,
        expected_graph: Graph | None = None,
        expected_summaries: Mapping[int, Mapping[str, float]] | None = None,
        expected_added_graphs: Sequence[Graph] | None = None,
        expected_added_meta_graphs: Sequence[Proto] | None = None,
        expected_session_logs: Sequence[Proto] | None = None,
    ) -> None:
        """Compare what was kept; each argument but the first may be None: not compared.

        Args:
          test_case: its assertions report differences.
          expected_logdir: the directory.
          expected_graph: the graph of the constructor.
          expected_summaries: the values by tag, by step: those of the last Summary
            that has the tag.  Other steps may exist, other tags may not.
          expected_added_graphs, expected_added_meta_graphs, expected_session_logs:
            all of their kind, in order.  A MetaGraphDef may have more nodes.
        """
        if expected_logdir is not None:
            test_case.assertEqual(expected_logdir, self._logdir)
        if expected_graph is not None:
            test_case.assertTrue(expected_graph is self._graph)
        for step, expected in (expected_summaries or {}).items():
            test_case.assertTrue(
                step in self._summaries,
                msg=f"Missing step {step} from {self._summaries.keys()}.",
            )
            values = {
                value.tag: value.simple_value
                for summary in self._summaries[step]
                for value in summary.value
            }
            test_case.assertEqual(expected, values)
        if expected_added_graphs is not None:
            test_case.assertEqual(expected_added_graphs, self._added_graphs)
        if expected_added_meta_graphs is not None:
            kept = self._added_meta_graphs
            test_case.assertEqual(len(expected_added_meta_graphs), len(kept))
            for one, found in zip(expected_added_meta_graphs, kept, strict=True):
                expected_nodes, nodes = _nodes(one), _nodes(found)
                test_case.assertEqual(
                    expected_nodes, {name: nodes.get(name) for name in expected_nodes}
                )
        if expected_session_logs is not None:
            test_case.assertEqual(expected_session_logs, self._added_session_logs)

    def flush(self) -> None:
        """No effect."""

    def reopen(self) -> None:
        """No effect."""

    def close(self) -> None:
        """No effect."""


def _nodes(meta_graph_def: Any) -> dict[str, Any]:
    """The NodeDefs by name: their order does not matter."""
    return {node.name: node for node in meta_graph_def.graph_def.node}
