"""Summaries that are written when they are computed, in both modes.

Read `recording.py` (whether, and at which step), `writers.py` (where to), then
`summaries.py` (what).
"""
