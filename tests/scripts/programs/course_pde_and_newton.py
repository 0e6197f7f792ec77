"""Numbers without learning: Mandelbrot, rain on a pond, Newton's method in a loop."""
import numpy as np
import tensorflow as tf

sess = tf.InteractiveSession()
Y, X = np.mgrid[-1.3:1.3:0.1, -2:1:0.1]
Z = X + 1j * Y
xs = tf.constant(Z.astype(np.complex64))
zs = tf.Variable(xs)
ns = tf.Variable(tf.zeros_like(xs, tf.float32))
tf.global_variables_initializer().run()
zs_ = zs * zs + xs
not_diverged = tf.abs(zs_) < 4
step = tf.group(zs.assign(zs_), ns.assign_add(tf.cast(not_diverged, tf.float32)))
for i in range(12):
    step.run()
print(int(ns.eval().sum()), ns.eval()[13, ::5])


def make_kernel(a):
    a = np.asarray(a)
    return tf.constant(a.reshape(list(a.shape) + [1, 1]), dtype=1)


def simple_conv(x, k):
    x = tf.expand_dims(tf.expand_dims(x, 0), -1)
    y = tf.nn.depthwise_conv2d(x, k, [1, 1, 1, 1], padding="SAME")
    return y[0, :, :, 0]


def laplace(x):
    return simple_conv(x, make_kernel([[0.5, 1.0, 0.5], [1.0, -6.0, 1.0], [0.5, 1.0, 0.5]]))


N = 24
u_init = np.zeros([N, N], dtype=np.float32)
rng = np.random.RandomState(1)
for drop in range(5):
    u_init[rng.randint(0, N), rng.randint(0, N)] = rng.uniform()
eps = tf.placeholder(tf.float32, shape=())
damping = tf.placeholder(tf.float32, shape=())
U = tf.Variable(u_init)
Ut = tf.Variable(np.zeros([N, N], dtype=np.float32))
U_ = U + eps * Ut
Ut_ = Ut + eps * (laplace(U) - damping * Ut)
pond = tf.group(U.assign(U_), Ut.assign(Ut_))
tf.initialize_all_variables().run()
for i in range(30):
    pond.run({eps: 0.03, damping: 0.04})
print("%.4f %.4f" % (U.eval().max(), np.abs(Ut.eval()).mean()))


def newton(f, start, tolerance=1e-10, most=30):
    def body(x, i, err):
        value = f(x)
        slope = tf.gradients(value, x)[0]
        nxt = x - value / slope
        return nxt, i + 1, tf.abs(nxt - x)

    return tf.while_loop(lambda x, i, err: tf.logical_and(err > tolerance, i < most), body,
                         [start, tf.constant(0), tf.constant(np.inf, tf.float64)], back_prop=False)


a = tf.placeholder(tf.float64, [])
root, turns, _ = newton(lambda x: x * x * x - a, tf.constant(5.0, tf.float64))
for value in (2.0, 27.0, 1000.0):
    print(value, sess.run([root, turns], {a: value}))
i, fib = tf.while_loop(lambda i, f: i < 10, lambda i, f: (i + 1, tf.concat([f, [f[-1] + f[-2]]], 0)),
                       [tf.constant(0), tf.constant([1, 1])],
                       shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])
x = tf.constant([1.0, 2.0])
_, powered = tf.while_loop(lambda n, p: n < 3, lambda n, p: [n + 1, p * x], [0, x], maximum_iterations=10)
matrix = tf.stack([[4.0, 1.0], [1.0, 3.0]])
solve = tf.scan(lambda v, _: (tf.constant([1.0, 2.0]) - tf.matmul(matrix - tf.diag(tf.diag_part(matrix)), v[:, None])[:, 0])
                / tf.diag_part(matrix), tf.range(12), initializer=tf.zeros([2]))
print(fib.eval(), tf.gradients(powered, x)[0].eval(), np.round(solve.eval()[-1], 5))
sess.close()
