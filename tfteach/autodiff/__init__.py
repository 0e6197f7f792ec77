"""`tf.gradients`: derivatives as new nodes, added to the same graph.

1. The ops in between: ancestors of `ys` that are reachable from `xs` along
   differentiable edges.
2. A backward traversal from `ys`.  An op is ready once all its consumers in between are
   done; their gradients are summed, and the op's gradient function (`Op.gradient`, or
   one registered by the user) maps the sums to gradients of its inputs.
3. The gradients that reach `xs` are the result.

For a while loop in between, a second loop is built that runs backwards (loops.py); the
values it needs from each forward iteration are pushed on stacks.

Names and order of the nodes are TF's, so that GraphDefs compare equal.
Source: python/ops/gradients_util.py.
"""

from tfteach.autodiff.gradient_registry import NotDifferentiable as NotDifferentiable
from tfteach.autodiff.gradient_registry import RegisterGradient as RegisterGradient
from tfteach.autodiff.gradients import AggregationMethod as AggregationMethod
from tfteach.autodiff.gradients import UnconnectedGradients as UnconnectedGradients
from tfteach.autodiff.gradients import gradients as gradients
