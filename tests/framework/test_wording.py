"""Errors that programs match on: TensorFlow 1.15's classes and words, word for word.

The messages were read off real TensorFlow; some go on after TF's words with advice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf

GRAPH = tf.Graph()
with GRAPH.as_default():
    A = tf.constant(1.0, name="a")
    B = tf.constant([1.0, 2.0], name="b")
    X = tf.placeholder(tf.float32, [2, 3], name="x")


def shape(*sizes: int | None) -> Any:
    return tf.TensorShape(sizes)


NOT_ALLOWED = (
    "is not allowed in Graph execution. Use Eager execution or decorate this function "
    "with @tf.function."
)
CASES: list[tuple[Any, type[Exception], str]] = [
    # looking up
    (lambda: GRAPH.as_graph_element("a:1"), KeyError,
     "The name 'a:1' refers to a Tensor which does not exist. The operation, 'a', "
     "exists but only has 1 outputs."),
    (lambda: GRAPH.get_tensor_by_name("a"), ValueError,
     "The name 'a' refers to an Operation, not a Tensor. Tensor names must be of the "
     'form "<op_name>:<output_index>".'),
    (lambda: GRAPH.get_operation_by_name("a:0"), ValueError,
     "Name 'a:0' appears to refer to a Tensor, not a Operation."),
    (lambda: GRAPH.get_operation_by_name("zz"), KeyError,
     "The name 'zz' refers to an Operation not in the graph."),
    (lambda: GRAPH.get_tensor_by_name("zz:0"), KeyError,
     "The name 'zz:0' refers to a Tensor which does not exist. The operation, 'zz', "
     "does not exist in the graph."),
    (lambda: GRAPH.get_tensor_by_name("a:b"), ValueError,
     "The name 'a:b' looks a like a Tensor name, but is not a valid one. Tensor names "
     'must be of the form "<op_name>:<output_index>".'),
    (lambda: GRAPH.as_graph_element(3), TypeError,
     "Can not convert a int into a Tensor or Operation."),
    (lambda: GRAPH.get_tensor_by_name(3), TypeError,
     "Tensor names are strings (or similar), not int."),
    (lambda: GRAPH.get_operation_by_name(A), TypeError,
     "Operation names are strings (or similar), not Tensor."),
    (lambda: tf.Graph().as_graph_element(A), ValueError,
     'Tensor Tensor("a:0", shape=(), dtype=float32) is not an element of this graph.'),
    # a tensor is no value
    (lambda: len(B), TypeError,
     "len is not well defined for symbolic Tensors. (b:0) Please call `x.shape` rather "
     "than `len(x)` for shape information."),
    (lambda: list(B), TypeError, f"iterating over `tf.Tensor` {NOT_ALLOWED}"),
    (lambda: bool(A), TypeError,
     f"using a `tf.Tensor` as a Python `bool` {NOT_ALLOWED}"),
    (lambda: np.array(A), NotImplementedError,
     "Cannot convert a symbolic Tensor (a:0) to a numpy array."),
    (lambda: A.eval(), ValueError,
     "Cannot evaluate tensor using `eval()`: No default session is registered. Use "
     "`with sess.as_default()` or pass an explicit session to `eval(session=sess)`"),
    (lambda: A.op.run(), ValueError,
     "Cannot execute operation using `run()`: No default session is registered. Use "
     "`with sess.as_default():` or pass an explicit session to `run(session=sess)`"),
    # types and shapes of ops
    (lambda: X + tf.placeholder(tf.int32, [2, 3]), TypeError,
     "Input 'y' of 'AddV2' Op has type int32 that does not match type float32 of "
     "argument 'x'."),
    (lambda: X + "a", TypeError,
     "Input 'y' of 'AddV2' Op has type string that does not match type float32 of "
     "argument 'x'."),
    (lambda: X / tf.constant(1), TypeError,
     "x and y must have the same dtype, got tf.float32 != tf.int32"),
    (lambda: X < "a", TypeError,
     "Expected float32 passed to parameter 'y' of op 'Less', got 'a' of type 'str' "
     "instead. Error: Expected float32, got 'a' of type 'str' instead."),
    (lambda: tf.constant(True) + True, TypeError,
     "Value passed to parameter 'x' has DataType bool not in list of allowed values: "
     "bfloat16, float16, float32, float64, uint8, int8, int16, int32, int64, "
     "complex64, complex128"),
    (lambda: tf.add(X, tf.placeholder(tf.float32, [2], name="p1"), name="n1"),
     ValueError,
     "Dimensions must be equal, but are 3 and 2 for 'n1' (op: 'Add') with input "
     "shapes: [2,3], [2]."),
    (lambda: tf.matmul(X, X, name="n2"), ValueError,
     "Dimensions must be equal, but are 3 and 2 for 'n2' (op: 'MatMul') with input "
     "shapes: [2,3], [2,3]."),
    (lambda: tf.matmul(X, [1.0, 2.0, 3.0], name="n3"), ValueError,
     "Shape must be rank 2 but is rank 1 for 'n3' (op: 'MatMul') with input shapes: "
     "[2,3], [3]."),
    (lambda: tf.reduce_sum(X, 2, name="n4"), ValueError,
     "Invalid reduction dimension 2 for input with 2 dimensions. for 'n4' (op: 'Sum') "
     "with input shapes: [2,3], [] and with computed input tensors: input[1] = <2>."),
    (lambda: tf.argmax(X, 2, name="n5"), ValueError,
     "Dimension (2) must be in the range [-2, 2), where 2 is the number of dimensions "
     "in the input. for 'n5' (op: 'ArgMax') with input shapes: [2,3], [] and with "
     "computed input tensors: input[1] = <2>."),
    (lambda: tf.range(0, 5, 0, name="n6"), ValueError,
     "Requires delta != 0 for 'n6' (op: 'Range') with input shapes: [], [], [] and "
     "with computed input tensors: input[0] = <0>, input[1] = <5>, input[2] = <0>."),
    (lambda: tf.add_n([X, tf.zeros([3, 3])], name="n7"), ValueError,
     "Dimension 0 in both shapes must be equal, but are 2 and 3. Shapes are [2,3] and "
     "[3,3].\n\tFrom merging shape 0 with other shapes. for 'n7' (op: 'AddN') with "
     "input shapes: [2,3], [3,3]."),
    (lambda: tf.add_n([]), ValueError,
     "inputs must be a list of at least one Tensor/IndexedSlices with the same dtype "
     "and shape"),
    (lambda: tf.matmul(X, X, transpose_a=True, adjoint_a=True), ValueError,
     "Only one of transpose_a and adjoint_a can be True."),
    (lambda: tf.reduce_sum(X, axis=0, reduction_indices=1), ValueError,
     "Cannot specify both 'reduction_indices' and 'axis'"),
    (lambda: tf.scalar_mul(X, X), ValueError,
     "Only scalar multiply works, got shape (2, 3)"),
    (lambda: tf.tensordot(X, X, -1), ValueError, "'axes' must be at least 0."),
    (lambda: tf.einsum("ii->i", X), ValueError,
     "Subscript not supported: an axis appears more than once: ii"),
    (lambda: X.set_shape([2, 2]), ValueError,
     "Dimension 1 in both shapes must be equal, but are 3 and 2. Shapes are [2,3] and "
     "[2,2]."),
    # constants
    (lambda: tf.constant(None), ValueError, "None values not supported."),
    (lambda: tf.constant(1.5, tf.int32), TypeError,
     "Expected int32, got 1.5 of type 'float' instead."),
    (lambda: tf.constant("a", tf.int32), TypeError,
     "Expected int32, got 'a' of type 'str' instead."),
    (lambda: tf.constant([1, 2, 3], shape=[2]), ValueError,
     "Too many elements provided. Needed at most 2, but received 3"),
    (lambda: tf.constant([[1, 2], [3]]), ValueError,
     "Argument must be a dense tensor: [[1, 2], [3]] - got shape [2], but wanted "
     "[2, 2]."),
    (lambda: tf.convert_to_tensor(A, tf.int32), ValueError,
     "Tensor conversion requested dtype int32 for Tensor with dtype float32"),
    # static shapes
    (lambda: shape(2, None).merge_with([3, None]), ValueError,
     "Shapes (2, ?) and (3, ?) are not compatible"),
    (lambda: shape(2).with_rank(2), ValueError, "Shape (2,) must have rank 2"),
    (lambda: shape(1, 2).with_rank_at_least(3), ValueError,
     "Shape (1, 2) must have rank at least 3"),
    (lambda: shape(2, None).assert_is_compatible_with([3, 3]), ValueError,
     "Shapes (2, ?) and [3, 3] are incompatible"),
    (lambda: len(tf.TensorShape(None)), ValueError,
     "Cannot take the length of shape with unknown rank."),
    (lambda: tf.TensorShape("ab"), TypeError,
     "A string has ambiguous TensorShape, please wrap in a list or convert to an int: "
     "ab"),
    (lambda: tf.TensorShape([-1]), ValueError, "Dimension -1 must be >= 0"),
    (lambda: tf.Dimension(3) / 2, TypeError,
     "unsupported operand type(s) for /: 'Dimension' and 'int', please use // instead"),
    (lambda: tf.Dimension(2.5), ValueError, "Ambiguous dimension: 2.5"),
    # the graph
    (lambda: _foreign(), ValueError, "must be from the same graph as"),
    (lambda: _finalized(), RuntimeError, "Graph is finalized and cannot be modified."),
    (lambda: tf.constant(1, name="_x"), ValueError, "'_x' is not a valid"),
    (lambda: GRAPH.gradient_override_map(3).__enter__(), TypeError,
     "op_type_map must be a dictionary mapping strings to strings"),
    (lambda: tf.Graph().device("/foo:1").__enter__(), ValueError,
     "Unknown attribute: 'foo' in '/foo:1'"),
    (lambda: tf.Graph().device("/gpu:0/cpu:1").__enter__(), ValueError,
     "Cannot specify multiple device types: /gpu:0/cpu:1"),
]  # fmt: skip


def _foreign() -> Any:
    with tf.Graph().as_default():
        other = tf.constant(2.0)
    return A + other


def _finalized() -> Any:
    with tf.Graph().as_default() as graph:
        graph.finalize()
        return tf.constant(1)


@pytest.mark.parametrize(
    ("build", "kind", "words"), CASES, ids=[str(i) for i in range(len(CASES))]
)
def test_error(build: Any, kind: type[Exception], words: str) -> None:
    with GRAPH.as_default(), pytest.raises(kind) as caught:
        build()
    assert words in str(caught.value.args[0])
