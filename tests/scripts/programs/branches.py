"""Learning-rate switch by cond and case; gradients through them."""
import tensorflow as tf
step = tf.Variable(0, trainable=False, name='step')
inc = tf.assign_add(step, 1)
lr = tf.case([(tf.less(step, 2), lambda: tf.constant(0.5)), (tf.less(step, 4), lambda: tf.constant(0.1))],
             default=lambda: tf.constant(0.01), exclusive=False, name='lr')
x = tf.placeholder(tf.float32, [], name='x')
w = tf.Variable(3.0, name='w')
def up(): return [x * w, tf.constant(1)]
def down(): return [x - w, tf.constant(2)]
y, which = tf.cond(x > 1, up, down)
g = tf.gradients(y, [x, w])
train = tf.train.GradientDescentOptimizer(lr).minimize(tf.square(y))
log = []
v = tf.Variable(0, name='v')
c2 = tf.cond(tf.constant(True), lambda: tf.assign_add(v, 5), lambda: tf.assign_sub(v, 3))
bounds = tf.train.piecewise_constant(step, [2, 4], [0.5, 0.1, 0.01])
nested = tf.cond(x > 0, lambda: tf.cond(x > 5, lambda: x * 10, lambda: x * 2), lambda: -x)
gn = tf.gradients(nested, x)[0]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(6):
        print(i, sess.run([lr, bounds]), sess.run([y, which], {x: float(i)}), sess.run(g, {x: float(i)}))
        print(sess.run([nested, gn], {x: i * 2. - 1}))
        sess.run(train, {x: 0.5}); sess.run(inc)
    print(sess.run(w), sess.run(c2), sess.run(v))
print(lr, y, which, g, nested, gn)
try:
    tf.cond(x > 1, lambda: tf.constant(1), lambda: tf.constant(2.))
except (TypeError, ValueError) as e:
    print(type(e).__name__, e)
try:
    tf.cond(x > 1, lambda: [tf.constant(1)], lambda: [tf.constant(2), tf.constant(1)])
except (TypeError, ValueError) as e:
    print(type(e).__name__, e)
try:
    tf.cond(True, 1, 2)
except TypeError as e:
    print(e)
