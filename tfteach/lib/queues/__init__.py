"""Input by queues: threads that fill them, and the queues that make batches.

Inputs are tensors of a producer; results are tensors of batches.  `coordinator.py`
stops threads together, `queue_runner.py` makes those that run enqueue ops.
"""
