"""Which ops a run needs, in which order, on which device, and what must be copied."""
