"""What single calls build and give in real TensorFlow 1.15.

`python -m tests.golden.calls FILE`, with TensorFlow's Python, writes the file anew:
for each expression below, the nodes that it adds, and its value or its error.
"""

import json
import sys

import numpy as np

S = "tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 4])"
OTHER = "tf.SparseTensor([[0, 1], [1, 1]], [1.5, -2.0], [3, 4])"
TEXT = """
tf.as_string([3.14159], precision=2, width=8, fill='0')
tf.as_string([3.1], shortest=True, scientific=True)
tf.as_string([3], precision=2)
tf.as_string([3], scientific=True)
tf.as_string([3, -4], fill='ab')
tf.as_string([3, -4], fill='x')
tf.as_string(tf.constant(3, tf.uint8))
tf.string_join(['a', ['b', 'c']], ',', name='j')
tf.string_join([['a', 'b'], ['b', 'c', 'd']])
tf.strings.length(['a'], unit='X')
tf.strings.lower(['A'], encoding='latin')
tf.substr(['hello', 'world'], [1, -2], [3, 9])
tf.substr(['hello', 'world'], 6, 3)
tf.substr(['hello', 'world'], [1, 2, 3], [1, 2, 3])
tf.substr('hello', [1, 2, 3], [1, 2, 3])
tf.regex_replace(['hello world'], '(l+)', '<\\\\1>', replace_global=False, name='r')
tf.regex_replace(['hello world'], tf.constant('l'), 'L')
tf.strings.regex_full_match(['abc', 'b'], 'a.*')
tf.strings.regex_full_match(['abc', 'b'], tf.constant('a.*'))
tf.string_to_number(['a'])
tf.string_to_number(['+12'], tf.int32)
tf.string_to_number(['99999999999'], tf.int32, name='n')
tf.string_to_number([''], tf.float64)
tf.string_to_hash_bucket(['a', 'bc'], 1000, name='b')
tf.string_to_hash_bucket_strong(['a', 'bc'], 10, [123])
tf.string_to_hash_bucket_fast(['a'], 0)
tf.decode_base64(['aGVsbG8/'])
tf.decode_base64(['a'])
tf.encode_base64(['a'], pad=True)
tf.reduce_join([['a', 'b'], ['c', 'd']])
tf.reduce_join([['a', 'b'], ['c', 'd']], -1, keep_dims=True, separator='-')
tf.reduce_join([['a', 'b'], ['c', 'd']], 2)
tf.reduce_join(tf.placeholder_with_default([['a', 'b'], ['c', 'd']], None))
tf.reduce_join(tf.placeholder_with_default([['a'], ['c']], [None, None]), [0, 0])
tf.string_split(['hello world', ' a  b', ''])
tf.string_split(['a,b', ''], ',', skip_empty=False, name='sp')
tf.string_split('abc d')
tf.string_split(['a'], ['a', 'b'])
tf.strings.split(['a,b,,c', ' a  b', ''], ',', maxsplit=1)
tf.strings.unsorted_segment_join(['a', 'b', 'c'], [1, 0, 1], 2, '-')
"""
SPARSE = """
tf.sparse_tensor_to_dense({S})
tf.sparse_tensor_to_dense(tf.SparseTensor([[0, 1]], ['a'], [1, 2]), 'z', name='d')
tf.sparse_tensor_to_dense(tf.SparseTensor([[2, 0], [0, 1]], [1., 2.], [3, 4]))
tf.sparse_tensor_to_dense(tf.SparseTensor([[2, 0], [2, 0]], [1., 2.], [3, 4]))
tf.sparse_tensor_to_dense(tf.SparseTensor([[2, 0], [3, 1]], [1., 2.], [3, 4]))
tf.sparse_tensor_dense_matmul({S}, tf.ones([4, 2]))
tf.sparse_tensor_dense_matmul({S}, tf.ones([3, 2]))
tf.sparse_tensor_dense_matmul(tf.SparseTensor([[0, 9]], [1.], [3, 4]), tf.ones([4, 2]))
tf.sparse_reduce_sum({S})
tf.sparse_reduce_sum({S}, 0, keep_dims=True)
tf.sparse_reduce_sum({S}, 5)
tf.sparse_reduce_sum_sparse({S}, 1)
tf.sparse_reduce_max({S}, 1)
tf.sparse_reduce_max_sparse({S}, 1)
tf.sparse_add({S}, {OTHER}, thresh=0.5)
tf.sparse_add({S}, tf.ones([3, 4]))
tf.sparse_concat(1, [{S}, tf.SparseTensor([[0, 0]], [5.], [3, 1])])
tf.sparse_concat(1, [{S}, tf.SparseTensor([[0, 0]], [5.], [2, 1])])
tf.sparse_concat(1, [{S}, tf.SparseTensor([[0, 0]], [5.], [2, 1])], None, True)
tf.sparse_fill_empty_rows({S}, 7.0)
tf.sparse_mask(tf.IndexedSlices(tf.ones([2, 3]), tf.constant([1, 5])), tf.constant([5]))
tf.sparse_merge(tf.SparseTensor([[0, 0]], tf.constant([3], tf.int64), [2, 1]), {S}, 5)
tf.sparse_maximum({S}, {OTHER})
tf.sparse_minimum({S}, {OTHER}, name='least')
tf.sparse_reorder(tf.SparseTensor([[2, 0], [0, 1]], [1., 2.], [3, 4]))
tf.sparse_reset_shape({S}, [5, 5])
tf.sparse_reset_shape({S})
tf.sparse_reshape({S}, [2, -1])
tf.sparse_reshape({S}, [5, -1])
tf.sparse_retain({S}, [True, False])
tf.sparse_slice({S}, [1, 0], [2, 2])
tf.sparse_softmax({S})
tf.sparse_split(sp_input={S}, num_split=2, axis=1)
tf.sparse_to_indicator(tf.SparseTensor([[0, 0]], tf.constant([3], tf.int64), [2, 1]), 5)
tf.sparse_transpose({S})
tf.sparse.from_dense([[1., 0.], [0., 2.]])
{S} * tf.ones([3, 4])
{S} / tf.constant(2.)
tf.edit_distance({S}, {OTHER})
tf.edit_distance(1, {OTHER})
"""

# Characters of one to four bytes; wrong bytes; control characters.
UNICODE = r"""
{U}transcode([b'n\xc3\xa9', b'a\xffb\xe4\xb8', b'\xf0\x9f\x98\x80'], {BOTH})
{U}transcode([b'a\xff\x07'], 'UTF-8', 'UTF-32-BE', 'ignore', 63, True, 't')
{U}transcode([b'\xed\xa0\x80z\xc0\xaf\x00'], 'UTF-8', 'UTF-8', 'replace', 63, True)
{U}transcode([b'\x00a\xd8\x00\x00b\x00'], 'UTF-16-BE', 'UTF-8')
{U}transcode([b'\xe9\x80'], 'windows-1252', 'UTF-8')
{U}transcode([b'a', b'\xff'], 'UTF-8', 'UTF-8', 'strict')
{U}transcode([b'a'], 'KLINGON', 'UTF-8')
{U}transcode([b'a'], 'hex', 'UTF-8')
{U}transcode([b'a'], 'UTF-8', 'UTF-7')
{U}transcode([1], 'UTF-8', 'UTF-8')
{U}decode(b'n\xc3\xa9\xff\x00', 'UTF-8')
{U}decode(b'a\xff\x00', 'UTF-8', 'ignore', 63, True, 'd')
{U}decode(b'\xff', 'UTF-8', 'strict')
{U}decode(b'\xff', 'UTF-8', replacement_char=-1)
{U}decode(tf.placeholder(tf.string), 'UTF-8')
{U}decode_with_offsets(b'n\xc3\xa9\xff\xf0\x9f\x98\x80', 'UTF-8')
{U}split(b'n\xc3\xa9\xff', 'UTF-8')
{U}split_with_offsets(b'\x00n\xd8\x3d\xde\x00', 'UTF-16-BE', name='s')
{U}encode([65, 233, 0x4e16, 0x1f600, 0xd800, 0x110000, -1, 0], 'UTF-8')
{U}encode([0xd800, -1, 0x1f600], 'UTF-16-BE', 'replace', 63, 'e')
{U}encode([[65, 66], [67, -1]], 'UTF-32-BE', 'ignore')
{U}encode([[[65, 66]], [[67, 68]]], 'UTF-8')
{U}encode([-1], 'UTF-8', 'strict')
{U}encode([1], 'UTF-8', 'what')
{U}encode([1], 'UTF-8', replacement_char=0x110000)
{U}encode(7, 'UTF-8')
{U}encode(tf.placeholder(tf.int32), 'UTF-8')
{U}encode([1.0], 'UTF-8')
{U}script([0x41, 0x4e00, 0x430, 32, 0x1f600, -1, 0x110000, 0x3b1, 0xd800])
tf.nn.fractional_max_pool(tf.zeros([1, 5, 5, 1]), [1.0, 1.5, 1.7])
"""


def calls():
    """The expressions, by name."""
    text = (TEXT + SPARSE + UNICODE).replace("{S}", S).replace("{OTHER}", OTHER)
    text = text.replace("{U}", "tf.strings.unicode_")
    text = text.replace("{BOTH}", "'UTF-8', 'UTF-16-BE'")
    return [line for line in text.splitlines() if line]


def plain(value):
    """A value as JSON can hold it; strings are told by a prefix."""
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, bytes):
        return "b:" + value.decode("latin-1")
    if isinstance(value, np.ndarray) or hasattr(value, "dtype"):
        return plain(np.asarray(value).tolist())
    return value


def described(result):
    """Types and static shapes of what a call gives."""
    if isinstance(result, (list, tuple)):
        return [described(part) for part in result]
    return result.dtype.name + " " + str(result.shape)


def record(tf, call, names=None, static=False):
    """{nodes, value (and static)} or {nodes, error} of one expression over `names`."""
    with tf.Graph().as_default() as graph:
        found = {}
        try:
            result = eval(call, dict(names or {}, tf=tf))
            if static:
                found["static"] = described(result)
            with tf.Session() as sess:
                found["value"] = plain(sess.run(result))
        except Exception as error:
            text = getattr(error, "message", None) or str(error)
            found["error"] = [type(error).__name__, text.split("\n\t")[0]]
        found["nodes"] = [
            "{} {}({})".format(n.name, n.op, ", ".join(n.input))
            for n in graph.as_graph_def().node
        ]
    return found


def write(path, results):
    """Keep the results of all expressions."""
    with open(path, "w") as file:
        json.dump(results, file, indent=0, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    import tensorflow

    write(sys.argv[1], {call: record(tensorflow, call) for call in calls()})
