"""Why the runtime does what it does, as plain data with reasons.

Enters: graphs and what a session noted. Leaves: tuples and texts that a test, a
terminal or a widget can show; nothing here knows Jupyter. Read graph_rows.py (what a
graph holds), scope_tree.py (its scopes), pruning.py (what a run needs, and why),
growth.py (how a graph grew; lazy_loading.py the verdict, duplicate_ops.py what was
built again), placement.py (devices and copies), sharing.py and sessions.py (variables),
status.py, difference.py (what changed from one graph to another), stepping.py (a run op
by op).
"""

from tfteach.explain.growth import Growth as Growth
from tfteach.explain.growth import watch_growth as watch_growth
from tfteach.explain.pruning import RunNeeds as RunNeeds
from tfteach.explain.pruning import explain_run as explain_run
