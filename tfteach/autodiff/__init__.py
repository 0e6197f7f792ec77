"""`tf.gradients`: new nodes that compute derivatives, added to the graph itself.

1. The ops in between: ancestors of `ys` that are reached from `xs` along differentiable
   edges.
2. A backward traversal from `ys`.  An op is ready once all of its consumers in between
   are done; the gradients they sent are summed, and the op's gradient function
   (`Op.gradient`, or one registered by the user) maps them to gradients of its inputs.
3. The gradients that reach `xs` are the result.

A while loop in between gets a second loop that runs backwards (loops.py); values that
it needs of each forward iteration are pushed on stacks.

Names and order of the nodes are TF's, so that GraphDefs compare equal.
Source: python/ops/gradients_util.py.
"""

from tfteach.autodiff.gradient_registry import NotDifferentiable as NotDifferentiable
from tfteach.autodiff.gradient_registry import RegisterGradient as RegisterGradient
from tfteach.autodiff.gradients import AggregationMethod as AggregationMethod
from tfteach.autodiff.gradients import UnconnectedGradients as UnconnectedGradients
from tfteach.autodiff.gradients import gradients as gradients
