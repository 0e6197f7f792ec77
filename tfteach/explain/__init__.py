"""Why the runtime does what it does, as plain data with reasons.

Enters: graphs and what a session noted. Leaves: tuples and texts that a test, a
terminal or a widget can show; nothing here knows Jupyter. Read outline.py (what a graph
holds), tree.py (its scopes), pruning.py (what a run needs, and why), growth.py (how a
graph grew).
"""
