"""Which worker of pytest-xdist runs which tests.

A worker gets whole files: their fixtures are set up once, and the cells of a notebook
run in order. The tests in the browser take as long as all others together, and each
worker that runs some has a JupyterLab and a Chromium. So the first worker begins with
them, the second takes what is left of them when nothing else is, and others none.
"""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

BROWSER = "tests/browser/"
MAX_BROWSERS = 2


class Scheduler(LoadFileScheduling):
    """Files in the order of their number of tests, those in the browser apart."""

    def _reschedule(self, node: WorkerController) -> None:
        beyond = self.nodes.index(node) >= MAX_BROWSERS
        if beyond and all(file.startswith(BROWSER) for file in self.workqueue):
            if not node.shutting_down:
                node.shutdown()
            return
        super()._reschedule(node)

    def mark_test_complete(
        self, node: WorkerController, item_index: int, duration: float = 0
    ) -> None:
        """Forgets files that are done: each event counts the tests of all others."""
        super().mark_test_complete(node, item_index, duration)
        files = self.assigned_work[node]
        file = self._split_scope(self.registered_collections[node][item_index])
        if all(files[file].values()):
            del files[file]

    def _assign_work_unit(self, node: WorkerController) -> None:
        is_first = self.nodes.index(node) == 0
        for file in self.workqueue:
            if file.startswith(BROWSER) is is_first:
                self.workqueue.move_to_end(file, last=False)
                break
        super()._assign_work_unit(node)
