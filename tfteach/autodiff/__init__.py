"""`tf.gradients`: new nodes that compute derivatives, added to the graph itself.

1. Which ops lie between: the ancestors of `ys` that `xs` reach by differentiable edges.
2. Walk back from `ys`.  An op is ready once all of its consumers in between are done;
   the gradients they sent are summed, and the op's own rule (`Op.gradient`, or one
   registered by the user) turns them into gradients of its inputs.
3. What arrived at `xs` is the answer.

A while loop in between gets a second loop that runs backwards (loops.py); what that
needs of each turn, the first one keeps on stacks.

Names and order of the nodes are TF's, so that GraphDefs compare equal.
Source: python/ops/gradients_util.py.
"""

from tfteach.autodiff.gradient_registry import NotDifferentiable as NotDifferentiable
from tfteach.autodiff.gradient_registry import RegisterGradient as RegisterGradient
from tfteach.autodiff.gradients import AggregationMethod as AggregationMethod
from tfteach.autodiff.gradients import UnconnectedGradients as UnconnectedGradients
from tfteach.autodiff.gradients import gradients as gradients
