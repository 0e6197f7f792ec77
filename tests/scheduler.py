"""Which worker of pytest-xdist runs which tests.

A worker gets whole files: their fixtures are set up once, and the cells of a notebook
run in order. The tests in the browser take as long as all others together, and each
worker that runs some has a JupyterLab and a Chromium. So the first worker begins with
them, the second takes what is left of them when nothing else is, and others none.

Where a worker dies, pytest-xdist reports the test that it ran as failed, and starts
another worker; what was left is for all workers.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

BROWSER = "tests/browser/"
MAX_BROWSERS = 2
FEW = 2  # as pytest-xdist counts them


class Scheduler(LoadFileScheduling):
    """Files in the order of their number of tests, those in the browser apart."""

    def _reschedule(self, node: WorkerController) -> None:
        """Gives the worker tests while it has few: it keeps the last for the next."""
        while (
            not node.shutting_down
            and node in self.registered_collections  # a new one collects first
            and self._pending_of(self.assigned_work[node]) <= FEW
        ):
            if self._is_beyond_browsers(node):
                node.shutdown()
            else:
                super()._reschedule(node)

    def _is_beyond_browsers(self, node: WorkerController) -> bool:
        """Whether only tests in the browser are left, and enough workers run them."""
        if not all(file.startswith(BROWSER) for file in self.workqueue):
            return False
        working = [other for other in self.nodes if not other.shutting_down]
        return working.index(node) >= MAX_BROWSERS

    def add_node_collection(
        self, node: WorkerController, collection: Sequence[str]
    ) -> None:
        """Ends a worker that found other tests than all before it did."""
        super().add_node_collection(node, collection)
        if node not in self.registered_collections:
            node.shutdown()

    def remove_node(self, node: WorkerController) -> str | None:
        """Takes what a worker that died had left, but for the test that it ran."""
        files = self.assigned_work.pop(node)
        if not files:
            return None
        tests = next(iter(files.values()))
        running = next(iter(tests))
        del tests[running]
        self.workqueue.update({file: tests for file, tests in files.items() if tests})
        for other in self.nodes:
            self._reschedule(other)
        return running

    def mark_test_complete(
        self, node: WorkerController, item_index: int, duration: float = 0
    ) -> None:
        """Forgets what is done: each event counts the tests of all files."""
        test = self.registered_collections[node][item_index]
        files = self.assigned_work[node]
        file = self._split_scope(test)
        del files[file][test]
        if not files[file]:
            del files[file]
        self._reschedule(node)

    def _pending_of(self, workload: dict[str, dict[str, bool]]) -> int:
        return sum(map(len, workload.values()))

    def _assign_work_unit(self, node: WorkerController) -> None:
        is_first = self.nodes.index(node) == 0
        for file in self.workqueue:
            if file.startswith(BROWSER) is is_first:
                self.workqueue.move_to_end(file, last=False)
                break
        super()._assign_work_unit(node)
