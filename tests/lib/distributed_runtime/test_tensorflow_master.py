"""A master of TensorFlow 1.15 whose parameter server is ours."""

import json

import pytest

import tfteach as tf
from tests.lib.distributed_runtime.conftest import free_addresses

MASTER = """
import json, os, sys
import numpy as np
import tensorflow as tf
tf.logging.set_verbosity("ERROR")
cluster = tf.train.ClusterSpec(json.loads(sys.argv[1]))
server = tf.train.Server(cluster, "worker", 0)
ps, worker = "/job:ps/task:0", "/job:worker/task:0"
chosen = tf.placeholder(tf.bool, [])
with tf.device(ps):
    v = tf.Variable(2.0)
    x = tf.constant([[-3.0, 2.0]])
    w = tf.Variable([[1.0, 3.0], [2.0, -5.0]])
    fused = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w), [0.5, 1.0]))
    chain = tf.exp(tf.sqrt(tf.abs(x)))
def body(i, a):
    with tf.device(ps):
        b = a * v
    return i + 1, b + 1.0
def outer(i, a):
    _, r = tf.while_loop(lambda k, b: k < 2, body, [0, a])
    with tf.device(ps):
        r = tf.cond(i > 0, lambda: r * 10.0, lambda: r + v)
    return i + 1, r
with tf.device(worker):
    branch = tf.cond(chosen, lambda: v + 1.0, lambda: v - 1.0)
    _, loop = tf.while_loop(lambda i, a: i < 5, body, [0, 1.0])
    _, nested = tf.while_loop(lambda i, a: i < 3, outer, [0, 1.0])
with tf.device(ps):
    back = branch * 3.0
with tf.Session(server.target) as session:
    session.run(tf.global_variables_initializer())
    print([session.run(back, {chosen: fed}) for fed in (True, False)])
    print(session.run([loop, nested]))
    print(session.run(fused).tolist())
    print(np.round(session.run(chain).astype(float), 3).tolist())
sys.stdout.flush()
os._exit(0)
"""

# As TensorFlow's own parameter server answers.
EXPECTED = """\
[9.0, 3.0]
[63.0, 15630.0]
[[1.5, 0.0]]
[[5.652, 4.113]]
"""


@pytest.mark.oracle
def test_branches_loops_and_fused_ops(tensorflow):
    cluster = {job: free_addresses(1) for job in ("ps", "worker")}
    server = tf.train.Server(cluster, "ps")
    try:
        done = tensorflow.ended(MASTER, json.dumps(cluster))
    finally:
        server._stop()
    assert done.output == EXPECTED, done.errors
