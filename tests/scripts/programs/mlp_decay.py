"""MLP with name scopes, dropout, weight decay and a decayed learning rate."""
import numpy as np
import tensorflow as tf

def fc_layer(x, size_in, size_out, name, reg):
    with tf.name_scope(name):
        w = tf.Variable(tf.truncated_normal([size_in, size_out], stddev=0.1, seed=7), name='W')
        b = tf.Variable(tf.constant(0.1, shape=[size_out]), name='B')
        act = tf.matmul(x, w) + b
        tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, reg * tf.nn.l2_loss(w))
        tf.summary.histogram('weights', w)
        tf.summary.histogram('biases', b)
        tf.summary.histogram('activations', act)
        return act

rng = np.random.RandomState(0)
xd = rng.normal(size=(64, 8)).astype('f')
yd = (xd[:, 0] * xd[:, 1] > 0).astype(np.int64)

x = tf.placeholder(tf.float32, shape=[None, 8], name='x')
y = tf.placeholder(tf.int64, shape=[None], name='labels')
keep_prob = tf.placeholder_with_default(1.0, [], name='keep_prob')
h = tf.nn.relu(fc_layer(x, 8, 16, 'fc1', 1e-3))
h = tf.nn.dropout(h, keep_prob, seed=5)
h = tf.nn.tanh(fc_layer(h, 16, 8, 'fc2', 1e-3))
h = tf.nn.dropout(h, rate=1 - keep_prob, seed=6)
logits = fc_layer(h, 8, 2, 'fc3', 1e-3)
with tf.name_scope('xent'):
    xent = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=y), name='xent')
    total = xent + tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    tf.summary.scalar('xent', xent)
global_step = tf.train.get_or_create_global_step()
with tf.name_scope('train'):
    lr = tf.train.exponential_decay(0.1, global_step, 3, 0.9, staircase=True)
    train_step = tf.train.MomentumOptimizer(lr, 0.9, use_nesterov=True).minimize(total, global_step=global_step)
with tf.name_scope('accuracy'):
    correct = tf.equal(tf.argmax(logits, 1), y)
    acc = tf.reduce_mean(tf.cast(correct, tf.float32))
    tf.summary.scalar('accuracy', acc)
summ = tf.summary.merge_all()
sess = tf.Session()
sess.run(tf.global_variables_initializer())
for i in range(12):
    _, l, r, g = sess.run([train_step, total, lr, global_step], {x: xd, y: yd, keep_prob: 0.8})
    print(i, '%.5f' % l, '%.6f' % r, g)
print('%.5f' % sess.run(acc, {x: xd, y: yd}))
print(tf.train.global_step(sess, global_step))
pb = tf.Summary(); pb.ParseFromString(sess.run(summ, {x: xd, y: yd}))
print([(v.tag, round(v.simple_value, 4)) for v in pb.value])
sess.close()
