"""Style transfer's losses: the image is the variable, Gram matrices of fixed features."""
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(13)
SHAPE = [1, 12, 10, 3]
content = rng.uniform(0, 255, SHAPE).astype(np.float32)
style = rng.uniform(0, 255, SHAPE).astype(np.float32)
kernels = [rng.normal(0, 0.2, s).astype(np.float32) for s in ([3, 3, 3, 4], [3, 3, 4, 6])]


def features(image):
    layers = {}
    net = image - np.array([123.68, 116.779, 103.939]).reshape((1, 1, 1, 3)).astype(np.float32)
    for i, kernel in enumerate(kernels):
        with tf.variable_scope("conv%d" % i):
            W = tf.constant(kernel, name="weights")
            b = tf.constant(np.zeros(kernel.shape[-1], np.float32), name="bias")
            net = tf.nn.relu(tf.nn.conv2d(net, W, [1, 1, 1, 1], "SAME") + b)
        layers["relu%d" % i] = net
        net = tf.nn.avg_pool(net, [1, 2, 2, 1], [1, 2, 2, 1], "SAME", name="avgpool%d" % i)
    return layers


def gram(F, N, M):
    F = tf.reshape(F, (M, N))
    return tf.matmul(tf.transpose(F), F)


image = tf.get_variable("in_img", shape=SHAPE, dtype=tf.float32, initializer=tf.zeros_initializer())
layers = features(image)
with tf.Session() as sess:
    sess.run(image.assign(content))
    wanted = sess.run(layers["relu1"])
    sess.run(image.assign(style))
    styles = sess.run([layers[k] for k in sorted(layers)])
content_loss = tf.reduce_sum((layers["relu1"] - wanted) ** 2) / (4.0 * wanted.size)
style_loss = 0.0
for fixed, name in zip(styles, sorted(layers)):
    N, M = fixed.shape[3], fixed.shape[1] * fixed.shape[2]
    difference = gram(fixed, N, M) - gram(layers[name], N, M)
    style_loss += 0.5 * tf.reduce_sum(difference ** 2) / ((2 * N * M) ** 2)
variation = tf.reduce_sum(tf.abs(image[:, 1:] - image[:, :-1])) + tf.reduce_sum(tf.abs(image[:, :, 1:] - image[:, :, :-1]))
loss = 0.01 * content_loss + style_loss + 0.1 * variation
train = tf.train.AdamOptimizer(2.0).minimize(loss)
print(layers)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(image.assign(content * 0.5 + 60.0))
    for i in range(20):
        _, total, c, s = sess.run([train, loss, content_loss, style_loss])
        print("step", i, "loss", float(total), "content", float(c), "style", float(s))
