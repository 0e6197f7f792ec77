"""Sharing variables: get_variable, reuse, custom getters, regularizers."""
import tensorflow as tf

def fully_connected(x, output_dim, scope):
    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE) as scope:
        w = tf.get_variable('weights', [x.shape[1], output_dim], initializer=tf.random_normal_initializer(seed=1))
        b = tf.get_variable('biases', [output_dim], initializer=tf.constant_initializer(0.0))
        return tf.matmul(x, w) + b

def two_hidden_layers(x):
    assert x.shape.as_list() == [20, 10]
    h1 = fully_connected(x, 5, 'h1')
    h2 = fully_connected(h1, 3, 'h2')
    return h2

x1 = tf.truncated_normal([20, 10], name='x1', seed=3)
x2 = tf.truncated_normal([20, 10], name='x2', seed=4)
with tf.variable_scope('two_layers') as scope:
    logits1 = two_hidden_layers(x1)
    scope.reuse_variables()
    logits2 = two_hidden_layers(x2)
print([v.name for v in tf.global_variables()])
try:
    tf.get_variable('two_layers/h1/weights', [10, 5])
except ValueError as e:
    print(str(e).split('Originally')[0])
try:
    with tf.variable_scope('two_layers', reuse=True):
        tf.get_variable('nothing', [1])
except ValueError as e:
    print(e)
try:
    with tf.variable_scope('two_layers', reuse=True):
        with tf.variable_scope('h1'):
            tf.get_variable('weights', [3, 5])
except ValueError as e:
    print(e)
with tf.variable_scope('reg', regularizer=lambda w: 0.1 * tf.reduce_sum(tf.abs(w)), initializer=tf.ones_initializer()):
    a = tf.get_variable('a', [2, 2])
    with tf.variable_scope('inner', dtype=tf.float64):
        c = tf.get_variable('c', [2])
    with tf.variable_scope(None, default_name='block'):
        d = tf.get_variable('d', [1])
    with tf.variable_scope(None, default_name='block'):
        e = tf.get_variable('d', [1], trainable=False, collections=['mine', tf.GraphKeys.GLOBAL_VARIABLES])
    p = tf.get_variable('parts', [5, 2], partitioner=tf.fixed_size_partitioner(2))
print(a, c, d, e, sep='\n')
print(list(p), p.shape, tf.convert_to_tensor(p))
print(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
print(tf.get_collection('mine'))
def getter(getter, name, *args, **kwargs):
    v = getter(name, *args, **kwargs)
    return tf.identity(v, name='got') * 2
with tf.variable_scope('custom', custom_getter=getter):
    g = tf.get_variable('g', initializer=[1., 2.])
print(g)
with tf.variable_scope('outer') as vs:
    pass
with tf.variable_scope('other'):
    with tf.variable_scope(vs, auxiliary_name_scope=False) as vs1:
        with tf.name_scope(vs1.original_name_scope):
            z = tf.get_variable('z', [])
            n = z + 1
    with tf.variable_scope(vs):
        m = tf.constant(1., name='m')
print(z.name, n.name, m.name, tf.get_variable_scope().name, vs.name, vs.original_name_scope)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    l1, l2, gg = sess.run([logits1, logits2, g])
    print(l1[:2]); print(l2[:2]); print(gg)
    print(sess.run(tf.get_collection('regularization_losses')))
    print(sess.run(tf.convert_to_tensor(p)).tolist())
