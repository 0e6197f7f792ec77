# ruff: noqa: E501 -- each call is one line
"""What programs read their data with: TensorFlow 1.15's nodes, answers and errors.

`python -m tests.golden.input_calls FILE`, with TensorFlow's Python, writes them anew;
`--new` before FILE asks only what is not yet in it.  `late(value, shape)` is a tensor of
which the graph knows only that shape, `file(name)` the path of a file of FILES,
`flat(result)` what a call returned as a list, dicts by their keys.
"""

import io
import json
import os
import sys
import tempfile
import wave
import zlib

import numpy as np

from tests.golden import calls as golden

FILES = {
    "a.txt": b"one\ntwo\n",
    "b.txt": b"",
    "c.bin": b"\x00\xff\n\r",
    "sub/d.txt": b"deep",
}

FILE_OPS = """
tf.read_file(file('a.txt'))
tf.read_file(late(file('c.bin')), name='content')
tf.io.read_file(file('b.txt'))
tf.read_file([file('a.txt')])
tf.read_file(late([file('a.txt')]))
tf.read_file(1)
tf.read_file(late('missing.txt'))
tf.read_file(file('sub'))
tf.matching_files(file('*.txt'))
tf.matching_files([file('b.*'), file('a.*'), file('?.bin')], name='found')
tf.matching_files(late([file('nope*')]))
tf.matching_files([[file('a.txt')]])
tf.matching_files(late([[file('a.txt')]]))
tf.matching_files(np.zeros([0], 'S1'))
tf.matching_files(file('[ab].txt'))
tf.matching_files(file('*'))
tf.matching_files(file('*/*.txt'))
after(tf.write_file(new('x/y.txt'), 'text'), lambda: tf.read_file(new('x/y.txt')))
after(tf.io.write_file(new('z.bin'), b'\\x00\\xff', name='w'), lambda: tf.read_file(new('z.bin')))
tf.write_file([new('a')], 'text')
tf.write_file(late([new('a')]), 'text')
tf.write_file(new('a'), late(['text']))
tf.write_file(new('a'), ['text'])
"""

CSV = r'''
tf.decode_csv(['1,2.5,a', '-3,1e3,'], [[0], [0.0], ['']])
tf.decode_csv('1,2.5,a', [[0], [0.0], ['']], name='row')
tf.decode_csv([[',,'], ['4,5,6']], [[7], [1.5], ['x']])
tf.decode_csv(['1,2'], [tf.constant([], tf.int32), tf.constant([], tf.float64)])
tf.decode_csv([',2'], [tf.constant([], tf.int32), tf.constant([], tf.float64)])
tf.decode_csv(['1,2'], [tf.constant([], tf.int32)])
tf.decode_csv(['1'], [[0], [0]])
tf.decode_csv(['a'], [[0]])
tf.decode_csv(['1.5'], [[0]])
tf.decode_csv(['x'], [[0.5]])
tf.decode_csv(['99999999999'], [[0]])
tf.decode_csv(['99999999999'], [tf.constant([0], tf.int64)])
tf.decode_csv(['999999999999999999999'], [tf.constant([0], tf.int64)])
tf.decode_csv(['y'], [tf.constant([0], tf.int64)])
tf.decode_csv(['y'], [tf.constant([0], tf.float64)])
tf.decode_csv([' 1 , 2 '], [[0], [0.0]])
tf.decode_csv(['1;2'], [[0], [0.0]], field_delim=';')
tf.decode_csv(['1\t2'], [[0], [0.0]], '\t', False)
tf.decode_csv(['1 2'], [[0], [0.0]], field_delim=' ')
tf.decode_csv(['1'], [[0]], field_delim=';;')
tf.decode_csv(['1'], [[0]], field_delim='')
tf.decode_csv(['NA,NA,NA'], [[3], [2.5], ['s']], na_value='NA')
tf.decode_csv(['1,b,3,d'], [[''], [0]], select_cols=[1, 2])
tf.decode_csv(['1,b,3,d'], [[''], [0]], select_cols=[2, 1])
tf.decode_csv(['1,b,3,d'], [[''], [0]], select_cols=[1])
tf.decode_csv(['1,b'], [[''], [0]], select_cols=[1, 5])
tf.decode_csv(['1,b'], [['']], select_cols=[-1])
tf.decode_csv(['"a,b",c', '"say ""hi""",x'], [[''], ['']])
tf.decode_csv(['"a\nb",c'], [[''], ['']])
tf.decode_csv(['"a" ,c'], [[''], ['']])
tf.decode_csv(['a"b,c'], [[''], ['']])
tf.decode_csv(['"ab,c'], [[''], ['']])
tf.decode_csv(['"a"b,c'], [[''], ['']])
tf.decode_csv(['"",1'], [['d'], [0]])
tf.decode_csv(['a"b,"c"'], [[''], ['']], use_quote_delim=False)
tf.decode_csv(['a,b\r\n'], [[''], ['']])
tf.decode_csv(['a,b\n'], [[''], ['']])
tf.decode_csv(['a\nb,c'], [[''], ['']])
tf.decode_csv(['a\rb,c'], [[''], ['']])
tf.decode_csv(['"a\r\nb"\r\n'], [['']])
tf.decode_csv([''], [['d']])
tf.decode_csv([''], [[4]])
tf.decode_csv(['1,'], [[4], [5]])
tf.decode_csv(['1,,'], [[4], [5]])
tf.decode_csv(['nan,inf,-inf'], [[0.0], [0.0], [0.0]])
tf.decode_csv(['0x10,1e400'], [[0], [0.0]])
tf.decode_csv(['0x10,1e400'], [[0.0], [0.0]])
tf.decode_csv(np.zeros([0], 'S1'), [[0.0], ['']])
tf.decode_csv(['1'], [])
tf.decode_csv(['1'], [[True]])
tf.decode_csv(['1'], 0)
tf.decode_csv(['1'], [0])
tf.decode_csv([''], [5])
tf.decode_csv(['1'], [[1, 2]])
tf.decode_csv(['1'], [[[1]]])
tf.decode_csv(['1'], [late([1, 2])])
tf.decode_csv(['1'], [late([[1]])])
tf.decode_csv(late(['1,2'], [None]), [[0], late([1.0], [1])])
tf.decode_csv([1], [[0]])
tf.decode_csv([' ,+1', '1_0,3'], [[2.5], [0.5]])
tf.decode_csv([' ,+1'], [[2.5], [0.5]])
tf.decode_csv(['+1'], [[2]])
tf.decode_csv(['1_0'], [[2]])
tf.decode_csv(['1_0'], [[2.0]])
tf.decode_csv([' '], [[2]])
tf.decode_csv(['', 'a,b'], [['']])
tf.decode_csv(['1', 'x', '2,3'], [[0]])
tf.decode_csv(['1,2', '1'], [[0], [0]])
tf.decode_csv(['1,,3', ',x,'], [[0], ['d'], tf.constant([9.5], tf.float64)])
tf.decode_csv(['1,x,3', '"2",x,'], [[0], [7]], select_cols=[0, 2])
'''

RAW = r"""
tf.decode_raw([b'\x01\x02\x03\x04', b'\xff\xfe\xfd\xfc'], tf.uint8)
tf.decode_raw(b'\x01\x02\x03\x04', tf.int16, name='raw')
tf.decode_raw(b'\x01\x02\x03\x04', tf.int16, little_endian=False)
tf.decode_raw([[b'\x00\x00\x80?'], [b'\x00\x00\x00@']], tf.float32)
tf.decode_raw(b'\x3f\x80\x00\x00', tf.float32, False)
tf.decode_raw(b'\x00\x00\x80?\x00\x00\x00@', tf.complex64)
tf.decode_raw(b'\x3f\x80\x00\x00\x40\x00\x00\x00', tf.complex64, little_endian=False)
tf.decode_raw([b'\x01\x00'], tf.bool)
tf.decode_raw([b'\x00<'], tf.half)
tf.decode_raw([b'\x00\x00\x00\x00\x00\x00\xf0?'], tf.double)
tf.decode_raw(b'12345678', tf.int64)
tf.decode_raw([b'abc'], tf.int16)
tf.decode_raw([b'ab', b'abcd'], tf.int16)
tf.decode_raw([b'', b''], tf.int16)
tf.decode_raw(b'', tf.int32)
tf.decode_raw(np.zeros([0], 'S1'), tf.int32)
tf.decode_raw(late([b'ab']), tf.uint16)
tf.decode_raw(bytes=b'ab', out_type=tf.uint8)
tf.decode_raw(b'ab', tf.uint8, bytes=b'cd')
tf.decode_raw(b'ab')
tf.decode_raw(None, tf.uint8)
tf.decode_raw(b'ab', tf.uint32)
tf.decode_raw(b'ab', tf.string)
tf.decode_raw([1], tf.uint8)
raw('DecodePaddedRaw', input_bytes=[b'abc', b'', b'abcdefgh'], fixed_length=4, out_type=tf.uint8, little_endian=True)
raw('DecodePaddedRaw', input_bytes=b'abc', fixed_length=4, out_type=tf.int16, little_endian=False)
raw('DecodePaddedRaw', input_bytes=[b'abc'], fixed_length=3, out_type=tf.int16, little_endian=True)
raw('DecodePaddedRaw', input_bytes=[b'abc'], fixed_length=0, out_type=tf.int16, little_endian=True)
raw('DecodePaddedRaw', input_bytes=[b'abc'], fixed_length=[4], out_type=tf.int16, little_endian=True)
raw('DecodePaddedRaw', input_bytes=[b'abc'], fixed_length=late(2), out_type=tf.int16, little_endian=True)
raw('DecodePaddedRaw', input_bytes=np.zeros([0], 'S1'), fixed_length=2, out_type=tf.int16, little_endian=True)
tf.decode_compressed([zlib.compress(b'abc'), zlib.compress(b'')], 'ZLIB')
tf.decode_compressed(gzipped(b'abc' * 50), compression_type='GZIP', name='plain')
tf.decode_compressed([[b'abc']])
tf.decode_compressed([b'abc'], 'GZIP')
tf.decode_compressed([b'abc'], 'ZLIB')
tf.decode_compressed([zlib.compress(b'abc')[:-2]], 'ZLIB')
tf.decode_compressed([zlib.compress(b'abc') + b'rest'], 'ZLIB')
tf.decode_compressed([gzipped(b'abc') + gzipped(b'def')], 'GZIP')
tf.decode_compressed([b''], 'ZLIB')
tf.decode_compressed([b'abc'], 'BZIP')
tf.decode_compressed(np.zeros([0], 'S1'), 'ZLIB')
tf.decode_compressed([1])
"""

TENSORS = r"""
tf.serialize_tensor([[1.5, -2.0]])
tf.io.serialize_tensor([b'a', b'\x00b', b''], name='s')
tf.serialize_tensor(np.zeros([0, 3], 'i4'))
tf.serialize_tensor(tf.constant(7, tf.int64))
tf.serialize_tensor([True, False])
tf.serialize_tensor(tf.constant([1.5], tf.half))
tf.serialize_tensor(tf.constant([1j], tf.complex64))
tf.serialize_tensor(tf.constant([1.5], tf.bfloat16))
tf.serialize_tensor(tf.constant([1, 2], tf.quint8))
tf.parse_tensor(tf.serialize_tensor([[1.5, -2.0]]), tf.float32)
tf.parse_tensor(tf.serialize_tensor(['a', '']), tf.string, name='p')
tf.parse_tensor(tf.serialize_tensor([1j]), tf.complex128)
tf.parse_tensor(tf.serialize_tensor(tf.constant([1.5, 2.5], tf.bfloat16)), tf.bfloat16)
tf.parse_tensor(tf.serialize_tensor([1]), tf.float32)
tf.parse_tensor(late(b'bad'), tf.float32)
tf.parse_tensor(late(b''), tf.float32)
tf.parse_tensor([b''], tf.float32)
tf.parse_tensor(late([b'']), tf.float32)
tf.parse_tensor(proto(tf.make_tensor_proto(3.0, shape=[2, 2])), tf.float32)
tf.parse_tensor(1, tf.float32)
tf.decode_json_example(['{"features": {"feature": {"a": {"int64List": {"value": [1, "2"]}}}}}'])
tf.decode_json_example('{"features": {"feature": {"b": {"float_list": {"value": [0.5]}}}}}', name='j')
tf.decode_json_example([['{}']])
tf.decode_json_example('{"features": {}}')
tf.decode_json_example('{"features": {"feature": {"z": {"int64List": {"value": [-1]}}, "a": {}, "b": {"floatList": {}}, "c": {"bytesList": {"value": ["", "YQ=="]}}}}}')
tf.decode_json_example('{"features": {"feature": {"c": {"bytesList": {"value": ["YWI="]}}}}}')
tf.decode_json_example(['{'])
tf.decode_json_example(['{"what": 1}'])
tf.decode_json_example(np.zeros([0], 'S1'))
tf.decode_json_example([1])
"""

# `example(a=[1], b=[0.5], c=[b"x"])` is a serialized Example.
EXAMPLES = r"""
tf.parse_example([example(a=[1, 2], b=[0.5]), example(a=[3, 4], b=[1.5])], {'a': fixed([2], tf.int64), 'b': fixed([], tf.float32)})
tf.parse_example([example(s=[b'x', b'yz']), example(), example(s=[b''])], {'s': var(tf.string)})
tf.io.parse_example([example(s=[b'x'], i=[-1, 300], f=[1.5])], {'s': var(tf.string), 'i': var(tf.int64), 'f': var(tf.float32)}, name='P')
tf.parse_example([example()], {'a': fixed([], tf.int64, 7), 'b': fixed([2], tf.float32, [0.5, 1.5]), 'c': fixed([], tf.string, 'd')})
tf.parse_example([example(a=[1])], {'a': fixed([], tf.int64, tf.constant(7, tf.int64))})
tf.parse_example([example(), example(a=[2])], {'a': fixed([1], tf.int64, late(np.int64([7])))})
tf.parse_example([example()], {'a': fixed([], tf.int64)})
tf.parse_example([example(a=[1]), example()], {'a': fixed([], tf.int64)}, example_names=['first', 'second'])
tf.parse_example([example(a=[1, 2])], {'a': fixed([], tf.int64)})
tf.parse_example([example(a=[1, 2])], {'a': fixed([3], tf.int64, [1, 2, 3])}, example_names=['n'])
tf.parse_example([example(a=[1.0])], {'a': fixed([], tf.int64)})
tf.parse_example([example(a=[1.0])], {'a': var(tf.string)}, example_names=['n'])
tf.parse_example([example(a=[1]), b'abc'], {'a': var(tf.int64)}, example_names=['n', 'm'])
tf.parse_example([example(a=[1])[:-1]], {'a': var(tf.int64)})
tf.parse_example(np.zeros([0], 'S1'), {'a': var(tf.int64), 'b': fixed([2], tf.float32)})
tf.parse_example(late([example(a=[1])]), {'a': var(tf.int64), 'b': fixed([2], tf.float32, [1.0, 2.0])})
tf.parse_example(late(example(a=[1])), {'a': var(tf.int64)})
tf.parse_example(example(a=[1]), {'a': var(tf.int64)})
tf.parse_example([[example(a=[1])]], {'a': var(tf.int64)})
tf.parse_example([example(a=[1])], {'a': var(tf.int64)}, example_names=['n', 'm'])
tf.parse_example([example(a=[1])], {'a': var(tf.int64)}, example_names=late(['n', 'm']))
tf.parse_example([example(a=[1, 2, 3]), example(), example(a=[4])], {'a': seq([], tf.int64)})
tf.parse_example([example(a=[1, 2, 3, 4]), example(a=[4, 5])], {'a': seq([2], tf.int64, 9)})
tf.parse_example([example(a=[b'x']), example()], {'a': seq([], tf.string), 'b/x y': seq([], tf.float32, 0.5)})
tf.parse_example([example()], {'a': seq([], tf.int64)})
tf.parse_example([example(a=[1, 2, 3])], {'a': seq([2], tf.int64)})
tf.parse_example([example(a=[1, 2, 3])], {'a': tf.FixedLenSequenceFeature([], tf.int64)})
tf.parse_example([example(k=[2, 0], v=[1.5, 2.5]), example(k=[1], v=[3.5])], {'s': tf.SparseFeature('k', 'v', tf.float32, 5)})
tf.parse_example([example(k=[0, 2], l=[1, 0], v=[1.5, 2.5])], {'s': tf.SparseFeature(['k', 'l'], 'v', tf.float32, [5, 3])})
tf.parse_example([example(k=[0, 2], v=[1.5, 2.5])], {'s': tf.SparseFeature('k', 'v', tf.float32, 5, already_sorted=True), 'k': var(tf.int64)})
tf.parse_example([example(k=[9], v=[1.5])], {'s': tf.SparseFeature('k', 'v', tf.float32, 5)})
tf.parse_example([example(k=[9, 1], v=[1.5])], {'s': tf.SparseFeature('k', 'v', tf.float32, 5)})
tf.parse_example([example()], {})
tf.parse_example([example()], None)
tf.parse_example([example()], {'a': 3})
tf.parse_example([example()], {'a': tf.VarLenFeature(None)})
tf.parse_example([example()], {'a': fixed([], None)})
tf.parse_example([example()], {'a': fixed(None, tf.int64)})
tf.parse_example([example()], {'a': fixed([None, 2], tf.int64)})
tf.parse_example([example()], {'a': fixed([2, None], tf.int64)})
tf.parse_example([example()], {'a': fixed([2], tf.int64, [1, 2, 3])})
tf.parse_example([example()], {'a': fixed([2], tf.int64, 'x')})
tf.parse_example([example()], {'a': var(tf.int32)})
tf.parse_example([example()], {'a': fixed([], tf.int32)})
tf.parse_example([example()], {'a': fixed([2], tf.float32, late(np.float32([1, 2, 3])))})
tf.parse_example([example()], {'s': tf.SparseFeature('k', 'k', tf.float32, 5)})
tf.parse_example([example()], {'s': tf.SparseFeature('k', 'v', tf.float32, 5), 'v': var(tf.int64)})
tf.parse_example([example(a=[1]) + example(a=[2], b=[3])], {'a': fixed([], tf.int64), 'b': var(tf.int64)})
tf.parse_example([unpacked(a=[1, -2], b=[0.5, 1.5])], {'a': fixed([2], tf.int64), 'b': var(tf.float32)})
tf.parse_example([example(a=[])], {'a': fixed([], tf.int64, 4)})
tf.parse_example([example(a=[])], {'a': var(tf.int64)})
tf.parse_example([example(a=[2**63 - 1, -2**63])], {'a': var(tf.int64)})
tf.parse_example([example(a=[1, 2, 3, 4])], {'a': fixed([2, 2], tf.int64)})
tf.parse_example([example(a=[1])], {'a': fixed([0], tf.int64)})
tf.parse_single_example(example(a=[1, 2], s=[b'x']), {'a': fixed([2], tf.int64), 's': var(tf.string)})
tf.parse_single_example(example(a=[1, 2, 3]), {'a': seq([], tf.int64), 'b': seq([2], tf.float32)})
tf.io.parse_single_example(example(k=[2, 0], v=[1.5, 2.5]), {'s': tf.SparseFeature('k', 'v', tf.float32, 5)}, name='one')
tf.parse_single_example(example(a=[1]), {'a': fixed([], tf.int64)}, example_names='n')
tf.parse_single_example(example(), {'a': fixed([], tf.int64, 3), 'b': fixed([2], tf.float32, [1.0, 2.0])})
tf.parse_single_example(late(example(a=[1])), {'a': fixed([], tf.int64)})
tf.parse_single_example(example(), {'a': fixed([], tf.int64)})
tf.parse_single_example(example(a=[1, 2]), {'a': fixed([], tf.int64)})
tf.parse_single_example(example(a=[1.5]), {'a': fixed([], tf.int64)})
tf.parse_single_example(example(a=[1.5]), {'a': var(tf.int64)})
tf.parse_single_example(example(), {'a': fixed([], tf.int64)}, example_names='n')
tf.parse_single_example(b'abc', {'a': var(tf.int64)})
tf.parse_single_example([example(a=[1])], {'a': var(tf.int64)})
tf.parse_single_example(late([example(a=[1])]), {'a': var(tf.int64)})
tf.parse_single_example(example(a=[1, 2, 3]), {'a': seq([2], tf.int64)})
tf.parse_single_example(example(), {})
tf.parse_single_example(example(), {'a': tf.FixedLenSequenceFeature([], tf.int64)})
tf.parse_single_example(late(example(a=[1])), {'a': fixed([], tf.int64)}, example_names=late('n'))
tf.parse_single_example(late([example(a=[1])]), {'a': fixed([], tf.int64)}, example_names='n')
tf.parse_single_example([example(a=[1])], {'a': fixed([], tf.int64)}, example_names='n')
tf.parse_single_example(example(a=[1]), {'a': fixed([], tf.int64)}, example_names=['n'])
tf.parse_single_example(example(a=[1, 5], b=[b'x']), {'a': var(tf.int64), 'b': seq([], tf.string)}, name='one', example_names='n')
tf.parse_example([example(a=[i], b=[b'x' * i]) for i in (300, 1, 2, 400, -1, 127, 128)], {'a': fixed([], tf.int64), 'b': var(tf.string)})
tf.parse_example([example(a=[1]), example(b=[1.5]), example(a=[2], b=[2.5]), example()], {'a': fixed([], tf.int64, 9), 'b': var(tf.float32)})
tf.parse_example([example(a=[2]), example(a=[1.5])], {'a': var(tf.int64)})
tf.parse_example([example(a=[2]), example(a=[1.5])], {'a': fixed([], tf.int64)})
tf.parse_example([example(a=[2]), example(a=[1.5])], {'b': var(tf.int64)})
tf.parse_example([example(a=[2, 3]), example(a=[])], {'a': seq([], tf.int64)})
tf.parse_example([example(a=[300, -7, 5]), example(a=[-1, 2, 70000])], {'a': fixed([3], tf.int64)})
"""

# `sequence(context, lists)`: a serialized SequenceExample.
SEQUENCES = r"""
tf.parse_single_sequence_example(sequence({'a': [1]}, {'x': [[1, 2], [3, 4]]}), {'a': fixed([], tf.int64)}, {'x': tf.FixedLenSequenceFeature([2], tf.int64)})
tf.parse_single_sequence_example(sequence({'a': [1]}, {'x': [[1, 2], [], [3]]}), {'a': var(tf.int64)}, {'x': var(tf.int64)})
tf.io.parse_single_sequence_example(sequence({}, {'x': [[b'u'], [b'v']]}), sequence_features={'x': tf.FixedLenSequenceFeature([], tf.string)}, example_name='n', name='S')
tf.parse_single_sequence_example(sequence({}, {}), {'a': fixed([], tf.float32, 0.5)}, {'x': tf.FixedLenSequenceFeature([3], tf.float32, allow_missing=True), 'y': var(tf.string)})
tf.parse_single_sequence_example(sequence({}, {}), {}, {'x': tf.FixedLenSequenceFeature([3], tf.float32)})
tf.parse_single_sequence_example(sequence({}, {}), {'a': fixed([], tf.int64)}, {'x': var(tf.int64)}, example_name='n')
tf.parse_single_sequence_example(sequence({'a': [1, 2]}, {}), {'a': fixed([], tf.int64)}, {'x': var(tf.int64)})
tf.parse_single_sequence_example(sequence({'a': [1.5]}, {}), {'a': fixed([], tf.int64)}, {'x': var(tf.int64)})
tf.parse_single_sequence_example(sequence({'a': [1.5]}, {}), {'a': var(tf.int64)}, {'x': var(tf.int64)})
tf.parse_single_sequence_example(sequence({}, {'x': [[1], [2, 3]]}), None, {'x': tf.FixedLenSequenceFeature([], tf.int64)})
tf.parse_single_sequence_example(sequence({}, {'x': [[1.5]]}), None, {'x': tf.FixedLenSequenceFeature([], tf.int64)})
tf.parse_single_sequence_example(sequence({}, {'x': [[1.5]]}), None, {'x': var(tf.int64)})
tf.parse_single_sequence_example(b'abc', {}, {'x': var(tf.int64)})
tf.parse_single_sequence_example(late([b'']), {}, {'x': var(tf.int64)})
tf.parse_single_sequence_example([b''], {}, {'x': var(tf.int64)})
tf.parse_single_sequence_example(sequence({}, {}), {}, {})
tf.parse_single_sequence_example(sequence({}, {}))
tf.parse_single_sequence_example(sequence({}, {}), {}, {'x': fixed([], tf.int64)})
tf.parse_single_sequence_example(sequence({}, {}), {'x': tf.FixedLenSequenceFeature([], tf.int64)}, {})
tf.parse_single_sequence_example(sequence({}, {}), {}, {'x': tf.FixedLenSequenceFeature([], tf.int64, default_value=3)})
tf.io.parse_sequence_example([sequence({'a': [1]}, {'x': [[1, 2], [3, 4]]}), sequence({'a': [2]}, {'x': [[5, 6]]})], {'a': fixed([], tf.int64)}, {'x': tf.FixedLenSequenceFeature([2], tf.int64)})
tf.io.parse_sequence_example([sequence({'a': [1, 2]}, {'x': [[1, 2], [], [3]]}), sequence({}, {})], {'a': var(tf.int64)}, {'x': var(tf.int64)})
tf.io.parse_sequence_example([sequence({}, {}), sequence({}, {'x': [[1.5]]})], {}, {'x': tf.FixedLenSequenceFeature([1], tf.float32, allow_missing=True), 'y': tf.FixedLenSequenceFeature([], tf.string, allow_missing=True)}, example_names=['n', 'm'], name='B')
tf.io.parse_sequence_example([sequence({}, {'x': [[b'u'], [b'v']]})], None, {'x': tf.FixedLenSequenceFeature([], tf.string), 'y': var(tf.float32)})
tf.io.parse_sequence_example(np.zeros([0], 'S1'), {'a': var(tf.int64)}, {'x': var(tf.int64), 'y': tf.FixedLenSequenceFeature([2], tf.float32)})
tf.io.parse_sequence_example([sequence({}, {})], {}, {'x': tf.FixedLenSequenceFeature([3], tf.float32)})
tf.io.parse_sequence_example([sequence({}, {})], {}, {'x': tf.FixedLenSequenceFeature([3], tf.float32)}, example_names=['n'])
tf.io.parse_sequence_example([sequence({}, {})], {'a': fixed([], tf.int64)}, {'x': var(tf.int64)})
tf.io.parse_sequence_example([sequence({}, {})], {'a': fixed([], tf.int64, 5)}, {'x': var(tf.int64)})
tf.io.parse_sequence_example([sequence({'a': [1, 2]}, {})], {'a': fixed([], tf.int64)}, {'x': var(tf.int64)})
tf.io.parse_sequence_example([sequence({'a': [1.5]}, {})], {'a': fixed([], tf.int64)}, {'x': var(tf.int64)})
tf.io.parse_sequence_example([sequence({'a': [1.5]}, {})], {'a': var(tf.int64)}, {'x': var(tf.int64)})
tf.io.parse_sequence_example([sequence({}, {'x': [[1], [2, 3]]})], None, {'x': tf.FixedLenSequenceFeature([], tf.int64)})
tf.io.parse_sequence_example([sequence({}, {'x': [[1.5]]})], None, {'x': tf.FixedLenSequenceFeature([], tf.int64)})
tf.io.parse_sequence_example([sequence({}, {'x': [[1.5]]})], None, {'x': var(tf.int64)})
tf.io.parse_sequence_example([b'abc'], {}, {'x': var(tf.int64)})
tf.io.parse_sequence_example(sequence({}, {'x': [[1], [2]]}), {}, {'x': var(tf.int64)})
tf.io.parse_sequence_example([sequence({}, {})], {}, {})
tf.parse_single_sequence_example(sequence({'k': [1], 'v': [2.5]}, {'x': [[1]]}), {'s': tf.SparseFeature('k', 'v', tf.float32, 3)}, {'x': var(tf.int64)})
tf.parse_single_sequence_example(sequence({}, {'k': [[1], [0, 2]], 'v': [[1.5], [2.5, 3.5]]}), {}, {'s': tf.SparseFeature('k', 'v', tf.float32, 3)})
"""

# `image(name)` is the content of a file in golden/images.
IMAGES = r"""
tf.image.decode_png(image('rgb.png'))
tf.image.decode_png(image('gray.png'), name='png')
tf.image.decode_png(image('graya.png'))
tf.image.decode_png(image('rgba.png'))
tf.image.decode_png(image('rgba.png'), channels=3)
tf.image.decode_png(image('rgb.png'), channels=4)
tf.image.decode_png(image('rgb.png'), channels=1)
tf.image.decode_png(image('gray.png'), channels=3)
tf.image.decode_png(image('graya.png'), channels=1)
tf.image.decode_png(image('graya.png'), channels=4)
tf.image.decode_png(image('palette.png'))
tf.image.decode_png(image('palette.png'), channels=1)
tf.image.decode_png(image('bits.png'))
tf.image.decode_png(image('deep.png'))
tf.image.decode_png(image('deep.png'), dtype=tf.uint16)
tf.image.decode_png(image('deepgray.png'), dtype=tf.uint16)
tf.image.decode_png(image('deepgray.png'), channels=3, dtype=tf.uint16)
tf.image.decode_png(image('rgb.png'), dtype=tf.uint16)
tf.image.decode_png(image('rgb.png'), channels=2)
tf.image.decode_png(image('rgb.png'), channels=5)
tf.image.decode_png(image('rgb.png'), dtype=tf.float32)
tf.image.decode_png(late(image('rgb.png')))
tf.image.decode_png([image('rgb.png')])
tf.image.decode_png(late([image('rgb.png')]))
tf.image.decode_png(b'no image')
tf.image.decode_png(image('rgb.png')[:100])
tf.image.decode_png(image('rgb.bmp'))
tf.image.decode_bmp(image('rgb.bmp'))
tf.image.decode_bmp(image('topdown.bmp'))
tf.image.decode_bmp(image('rgba.bmp'))
tf.image.decode_bmp(image('gray.bmp'))
tf.image.decode_bmp(image('rgb.bmp'), channels=3, name='bmp')
tf.image.decode_bmp(image('rgb.bmp'), channels=1)
tf.image.decode_bmp(image('rgb.bmp'), channels=2)
tf.image.decode_bmp(b'no')
tf.image.decode_bmp(b'BM' + b'x' * 60)
tf.image.decode_bmp(image('rgb.bmp')[:100])
tf.image.decode_gif(image('three.gif'))
tf.image.decode_gif(image('one.gif'), name='gif')
tf.image.decode_gif(b'no gif')
tf.image.decode_gif(image('rgb.png'))
tf.image.decode_gif(image('rgb.bmp'))
tf.image.decode_jpeg(image('gray.jpg'), dct_method='INTEGER_ACCURATE')
tf.image.decode_jpeg(image('full.jpg'), dct_method='INTEGER_ACCURATE', ratio=4)
tf.image.decode_jpeg(image('full.jpg'), dct_method='INTEGER_ACCURATE', ratio=8, channels=3, name='jpeg')
tf.image.decode_jpeg(image('gray.jpg'), dct_method='INTEGER_ACCURATE', ratio=8, channels=3)
tf.image.decode_jpeg(image('photo.jpg'), dct_method='INTEGER_ACCURATE', ratio=8, channels=1)
tf.image.decode_jpeg(image('photo.jpg'), ratio=3)
tf.image.decode_jpeg(image('photo.jpg'), channels=2)
tf.image.decode_jpeg(image('photo.jpg'), channels=4)
tf.image.decode_jpeg(image('photo.jpg'), dct_method='FLOAT')
tf.image.decode_jpeg(image('cut.jpg'))
tf.image.decode_jpeg(b'no image')
tf.image.decode_jpeg(image('rgb.png'))
tf.image.decode_jpeg([image('photo.jpg')])
tf.image.decode_jpeg(late([image('photo.jpg')]))
tf.image.decode_and_crop_jpeg(image('full.jpg'), [8, 16, 5, 7], dct_method='INTEGER_ACCURATE')
tf.image.decode_and_crop_jpeg(image('full.jpg'), late([3, 5, 5, 7]), channels=3, dct_method='INTEGER_ACCURATE', name='crop')
tf.image.decode_and_crop_jpeg(image('full.jpg'), [8, 16, 100, 7])
tf.image.decode_and_crop_jpeg(image('full.jpg'), [-1, 16, 10, 7])
tf.image.decode_and_crop_jpeg(image('full.jpg'), [8, 16, 10])
tf.image.decode_and_crop_jpeg(image('full.jpg'), [8, 16, 0, 7])
tf.image.extract_jpeg_shape(image('photo.jpg'))
tf.image.extract_jpeg_shape(image('gray.jpg'), tf.int64, name='s')
tf.image.extract_jpeg_shape(b'no image')
tf.image.extract_jpeg_shape([image('photo.jpg')])
[tf.image.is_jpeg(image('photo.jpg')), tf.image.is_jpeg(image('rgb.png'), name='j')]
tf.image.decode_image(image('rgb.png'))
tf.image.decode_image(image('three.gif'))
tf.image.decode_image(image('three.gif'), expand_animations=False)
tf.image.decode_image(image('rgb.bmp'), channels=3)
tf.image.decode_image(image('rgb.png'), channels=3, dtype=tf.float32, name='any')
tf.image.decode_image(image('deep.png'), dtype=tf.uint16)
tf.image.decode_image(b'no image')
tf.image.decode_image(image('three.gif'), channels=1)
tf.image.decode_image(image('rgb.png'), channels=2)
tf.image.decode_image(image('gray.png'), dtype=tf.float32)
tf.image.decode_png(tf.image.encode_png(np.arange(24, dtype='u1').reshape(2, 4, 3), name='e'))
tf.image.decode_png(tf.image.encode_png(tf.constant(np.arange(24).reshape(2, 3, 4) * 2000, tf.uint16)), dtype=tf.uint16)
tf.image.decode_png(tf.image.encode_png(np.arange(6, dtype='u1').reshape(2, 3, 1), compression=9))
tf.image.decode_png(tf.image.encode_png(np.arange(12, dtype='u1').reshape(2, 3, 2), compression=0))
tf.image.encode_png(np.zeros([2, 3], 'u1'))
tf.image.encode_png(late(np.zeros([2, 3], 'u1')))
tf.image.encode_png(late(np.zeros([2, 3, 5], 'u1')))
tf.image.encode_png(np.zeros([2, 3, 5], 'u1'))
tf.image.decode_png(tf.image.encode_png(np.ones([2, 3, 3], 'f')))
tf.image.encode_png(np.zeros([2, 3, 3], 'u1'), compression=10)
tf.image.encode_jpeg(np.arange(8 * 8 * 3, dtype='u1').reshape(8, 8, 3))
tf.image.encode_jpeg(np.arange(64, dtype='u1').reshape(8, 8, 1), quality=50, optimize_size=True, name='e')
tf.image.encode_jpeg(np.arange(8 * 8 * 3, dtype='u1').reshape(8, 8, 3), progressive=True, chroma_downsampling=False, density_unit='cm', x_density=30, y_density=40)
tf.image.encode_jpeg(np.zeros([8, 8, 3], 'u1'), xmp_metadata='<x/>')
tf.image.encode_jpeg(np.zeros([8, 8, 3], 'u1'), 'grayscale')
tf.image.encode_jpeg(np.zeros([8, 8, 1], 'u1'), 'rgb')
tf.image.encode_jpeg(np.zeros([8, 8, 2], 'u1'))
tf.image.encode_jpeg(np.zeros([8, 8], 'u1'))
tf.image.encode_jpeg(late(np.zeros([8, 8], 'u1')))
tf.image.encode_jpeg(np.zeros([8, 8, 3], 'u1'), 'bgr')
tf.image.encode_jpeg(np.zeros([8, 8, 3], 'u1'), density_unit='mm')
tf.image.encode_jpeg(np.zeros([8, 8, 3], 'u1'), quality=101)
tf.raw_ops.EncodeJpegVariableQuality(images=np.arange(8 * 8 * 3, dtype='u1').reshape(8, 8, 3), quality=60)
tf.raw_ops.EncodeJpegVariableQuality(images=np.arange(64, dtype='u1').reshape(8, 8, 1), quality=late(5))
tf.raw_ops.EncodeJpegVariableQuality(images=np.zeros([8, 8, 3], 'u1'), quality=101)
tf.raw_ops.EncodeJpegVariableQuality(images=np.arange(64, dtype='u1').reshape(8, 8, 1), quality=-3)
tf.raw_ops.EncodeJpegVariableQuality(images=np.zeros([8, 8, 2], 'u1'), quality=10)
tf.raw_ops.EncodeJpegVariableQuality(images=late(np.zeros([8, 8], 'u1')), quality=10)
tf.raw_ops.EncodeJpegVariableQuality(images=np.zeros([8, 8, 3], 'u1'), quality=late([10]))
tf.image.adjust_jpeg_quality(np.full([8, 9, 3], 255, 'u1'), 70)
tf.image.adjust_jpeg_quality(tf.fill([8, 9, 1], 1.0), late(70), name='q')
tf.image.adjust_jpeg_quality(tf.ones([8, 9, 3]), -1)
tf.image.random_jpeg_quality(tf.fill([8, 9, 3], 1.0), 50, 70, seed=3)
tf.image.random_jpeg_quality(tf.zeros([8, 9, 3]), -1, 70)
tf.image.random_jpeg_quality(tf.zeros([8, 9, 3]), 0, 101)
tf.image.random_jpeg_quality(tf.zeros([8, 9, 3]), 50, 50)
"""

# `wav(channels, samples)` is a file of 16 bits.
AUDIO = r"""
tf.audio.decode_wav(wav([[0, 16384, -32768, 32767]]))
tf.audio.decode_wav(wav([[1, 2, 3], [-1, -2, -3]]), name='w')
tf.audio.decode_wav(wav([[1, 2, 3], [-1, -2, -3]]), desired_channels=1)
tf.audio.decode_wav(wav([[1, 2, 3]]), desired_channels=2, desired_samples=5)
tf.audio.decode_wav(wav([[1, 2, 3]]), desired_samples=2)
tf.audio.decode_wav(wav([[1, 2], [3, 4]]), desired_channels=3)
tf.audio.decode_wav(wav([[]]))
tf.audio.decode_wav(b'no wav')
tf.audio.decode_wav(wav([[1, 2, 3]])[:-2])
tf.audio.decode_wav([wav([[1]])])
tf.audio.decode_wav(late([wav([[1]])]))
tf.audio.decode_wav(wav([[1]], width=1))
tf.audio.encode_wav([[0.0, 0.5], [1.0, -1.0], [2.0, -2.0]], 8000)
tf.audio.encode_wav(np.float32([[0.1], [-0.1], [0.99999]]), 44100, name='w')
tf.audio.encode_wav([0.5], 8000)
tf.audio.encode_wav(late([0.5]), 8000)
tf.audio.encode_wav([[0.5]], [8000])
"""

FAMILIES = {
    "images": IMAGES,
    "audio": AUDIO,
    "files": FILE_OPS,
    "csv": CSV,
    "raw": RAW,
    "tensors": TENSORS,
    "examples": EXAMPLES,
    "sequences": SEQUENCES,
}


def calls():
    """(family, expression) pairs."""
    return [
        (family, line)
        for family, text in FAMILIES.items()
        for line in text.splitlines()
        if line
    ]


def varint(number):
    """A number as protocol messages write it."""
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes(bytearray([number]))


def chunk(tag, content):
    """A field with a length."""
    return tag + varint(len(content)) + content


def make_files(folder):
    """Write FILES below a folder."""
    for name, content in FILES.items():
        path = os.path.join(folder, name)
        if not os.path.isdir(os.path.dirname(path)):
            os.makedirs(os.path.dirname(path))
        with open(path, "wb") as file:
            file.write(content)


def names(tf, folder):
    """What a call may name."""

    def raw(op_type, **given):
        if hasattr(tf, "python"):
            return getattr(tf.raw_ops, op_type)(**given)
        from tfteach.framework.op import op_class

        kind = op_class(op_type)
        inputs = [given.pop(arg.name) for arg in kind.inputs]
        given = {n: tuple(v) if isinstance(v, list) else v for n, v in given.items()}
        made = kind(**given)(*inputs)
        return made

    def image(name):
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "images")
        with open(os.path.join(folder, name), "rb") as content:
            return content.read()

    def wav(channels, width=2):
        content = io.BytesIO()
        with wave.open(content, "wb") as made:
            made.setparams((len(channels), width, 8000, 0, "NONE", ""))
            kind = "<i2" if width == 2 else "u1"
            made.writeframes(np.array(channels, kind).T.tobytes())
        return content.getvalue()

    def late(value, shape=None):
        return tf.placeholder_with_default(value, shape)

    def after(first, then):
        with tf.control_dependencies([first]):
            return then()

    def file(name):
        return os.path.join(folder, name)

    def gzipped(data):
        work = zlib.compressobj(6, zlib.DEFLATED, 31)
        return work.compress(data) + work.flush()

    def proto(message):
        return message.SerializeToString()

    def feature(values):
        if values and isinstance(values[0], bytes):
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
        if values and isinstance(values[0], float):
            return tf.train.Feature(float_list=tf.train.FloatList(value=values))
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

    def features(given):
        made = {name: feature(values) for name, values in given.items()}
        return tf.train.Features(feature=made)

    def example(**given):
        return tf.train.Example(features=features(given)).SerializeToString()

    def unpacked(a, b):
        """An Example as old libraries write it, with a tag before each number."""
        ints = b"".join(b"\x08" + varint(value) for value in a)
        floats = b"".join(b"\x0d" + np.float32(value).tobytes() for value in b)
        kinds = ("a", b"\x1a", ints), ("b", b"\x12", floats)
        entries = [
            chunk(b"\n", name.encode()) + chunk(b"\x12", chunk(tag, content))
            for name, tag, content in kinds
        ]
        return chunk(b"\n", b"".join(chunk(b"\n", entry) for entry in entries))

    def sequence(context, lists):
        made = {
            name: tf.train.FeatureList(feature=[feature(part) for part in parts])
            for name, parts in lists.items()
        }
        return tf.train.SequenceExample(
            context=features(context),
            feature_lists=tf.train.FeatureLists(feature_list=made),
        ).SerializeToString()

    def seq(shape, dtype, default=None):
        return tf.FixedLenSequenceFeature(shape, dtype, True, default)

    def flat(result):
        if isinstance(result, dict):
            return [[str(key), flat(result[key])] for key in sorted(result)]
        if isinstance(result, (list, tuple)) and not hasattr(result, "indices"):
            return [flat(part) for part in result]
        return result

    found = dict(locals())
    del found["folder"]
    found.update(fixed=tf.FixedLenFeature, var=tf.VarLenFeature)
    found.update(np=np, new=lambda name: file(os.path.join("new", name)), zlib=zlib)
    return found


def described(tf, result):
    """Types and static shapes of what a call returned."""
    if isinstance(result, tf.SparseTensor):
        shapes = [str(part.shape) for part in result.op.outputs[:0]]
        parts = (result.indices, result.values, result.dense_shape)
        return ["sparse " + result.dtype.name] + [str(p.shape) for p in parts] + shapes
    if isinstance(result, (list, tuple)):
        return [described(tf, part) for part in result]
    if isinstance(result, (str, tf.Operation)):
        return "text" if isinstance(result, str) else "Operation"
    return result.dtype.name + " " + str(result.shape)


def tensors_of(result):
    """What a session can run of it."""
    if isinstance(result, list):
        return [tensors_of(part) for part in result if not isinstance(part, str)]
    return result


def plain(value):
    """A value as JSON; strings are told by a prefix."""
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, (bytes, str)):
        return "b:" + value.decode("latin-1") if isinstance(value, bytes) else value
    if isinstance(value, np.ndarray) or hasattr(value, "dtype"):
        array = np.asarray(value)
        if array.dtype.kind == "c":
            return plain([array.real, array.imag])
        if array.dtype.kind == "V" or array.dtype.name == "bfloat16":
            return plain(array.astype(np.float32))
        return plain(array.tolist())
    return value


def record(tf, call, folder):
    """{nodes, value, static} or {nodes, error} of one expression."""
    with tf.Graph().as_default() as graph:
        found = {}
        try:
            known = names(tf, folder)
            result = known["flat"](eval(call, known))
            found["static"] = described(tf, result)
            with tf.Session() as session:
                found["value"] = plain(session.run(tensors_of(result)))
        except Exception as error:
            text = getattr(error, "message", None) or str(error)
            found["error"] = [type(error).__name__, text.split("\n\t")[0]]
        found["nodes"] = [
            "{} {}({})".format(n.name, n.op, ", ".join(n.input))
            for n in graph.as_graph_def().node
        ]
    return json.loads(json.dumps(found).replace(json.dumps(folder)[1:-1], "FOLDER"))


def main(path, only_new=False):
    """Ask TensorFlow, and keep its answers."""
    import tensorflow

    known = {}
    if only_new and os.path.exists(path):
        with open(path) as file:
            known = json.load(file)
    results = {}
    for _, call in calls():
        if call in known:
            results[call] = known[call]
            continue
        folder = tempfile.mkdtemp()
        make_files(folder)
        results[call] = record(tensorflow, call, folder)
    golden.write(path, results)


if __name__ == "__main__":
    main(sys.argv[-1], "--new" in sys.argv)
