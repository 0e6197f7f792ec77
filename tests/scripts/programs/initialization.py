"""Variables from variables; partial initialisation; sessions of their own."""
import tensorflow as tf
W = tf.Variable(tf.truncated_normal([3, 2], seed=1), name='W')
U = tf.Variable(W.initialized_value() * 2, name='U')
T = tf.Variable(lambda: tf.zeros([2]) + 3, name='T', dtype=tf.float32)
R = tf.get_variable('R', initializer=W.initialized_value() + 1., use_resource=True)
L = tf.Variable([1, 2, 3], trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES], name='L')
my_var = tf.Variable(2, name='my_var')
my_var_times_two = my_var.assign(2 * my_var)
print(W, U, T, R, L, sep='\n')
print(W.initializer.name, W.value(), W.read_value(), W.op.type, W.dtype, W.initial_value)
print(tf.report_uninitialized_variables())
with tf.Session() as sess:
    print(sess.run(tf.report_uninitialized_variables()))
    try:
        sess.run(U)
    except tf.errors.FailedPreconditionError as e:
        print(type(e).__name__, e.error_code, e.message.split('\n')[0])
    sess.run(U.initializer)
    print(sess.run(tf.is_variable_initialized(W)), sess.run(tf.report_uninitialized_variables()))
    sess.run(tf.variables_initializer([T, my_var]))
    sess.run(R.initializer)
    sess.run(tf.local_variables_initializer())
    print(U.eval(), sess.run(T), sess.run(R), sess.run(L))
    print(sess.run(my_var_times_two), sess.run(my_var_times_two), sess.run(my_var_times_two))
    sess.run(W.initializer)
    print(W.eval().shape)
    W.load([[1., 2.], [3., 4.], [5., 6.]], sess)
    print(sess.run(W[1:, ::-1]))
    print(sess.run([my_var.assign_add(10), my_var.assign_sub(2)])[0] in (14, 24, 22, 16))
sess1, sess2 = tf.Session(), tf.Session()
X = tf.Variable(10, name='X')
sess1.run(X.initializer); sess2.run(X.initializer)
print(sess1.run(X.assign_add(10)), sess2.run(X.assign_sub(2)), sess1.run(X.assign_add(100)), sess2.run(X.assign_sub(50)))
sess1.close(); sess2.close()
try:
    sess1.run(X)
except RuntimeError as e:
    print(e)
v = tf.Variable(tf.zeros([2, 2]), validate_shape=False, name='free')
print(v.shape, v.get_shape())
a = tf.assign(v, tf.ones([3, 1]), validate_shape=False)
print(a, a.shape)
with tf.Session() as s:
    s.run(v.initializer)
    print(s.run(a), s.run(v))
try:
    tf.Variable(tf.placeholder(tf.float32))
except ValueError as e:
    print(e)
try:
    tf.assign(W, [1., 2.])
except ValueError as e:
    print(e)
try:
    for _ in W: print(_)
except TypeError as e:
    print(e)
