"""Executes steps: from fetches and feeds to numbers, with no special-cased operation.

Read the packages in the order in which a `session.run` passes through them: session/
(fetches, feeds, cached programs), plan/ (prune, place, partition), optimize/,
execute/ (instructions, later generated source); flow/ for steps with branches and
loops, fusion/ for chains of element-wise ops, devices/ for where kernels compute.
"""
