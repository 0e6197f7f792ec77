"""Print, Assert, CheckNumerics, summaries and Python functions in a graph."""
