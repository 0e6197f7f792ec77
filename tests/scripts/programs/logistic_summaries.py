"""Logistic regression with Adam, accuracy and summaries."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(3)
rng = np.random.RandomState(0)
centers = rng.normal(size=(4, 12)) * 2
labels = rng.randint(0, 4, size=200)
features = (centers[labels] + rng.normal(size=(200, 12))).astype('f')
onehot = np.eye(4, dtype='f')[labels]

X = tf.placeholder(tf.float32, [None, 12], name='image')
Y = tf.placeholder(tf.int32, [None, 4], name='label')
w = tf.get_variable(name='weights', shape=(12, 4), initializer=tf.random_normal_initializer(stddev=0.01))
b = tf.get_variable(name='bias', shape=(1, 4), initializer=tf.zeros_initializer())
logits = tf.matmul(X, w) + b
entropy = tf.nn.softmax_cross_entropy_with_logits(logits=logits, labels=Y, name='loss')
loss = tf.reduce_mean(entropy)
optimizer = tf.train.AdamOptimizer(0.01).minimize(loss)
preds = tf.nn.softmax(logits)
correct_preds = tf.equal(tf.argmax(preds, 1), tf.argmax(Y, 1))
accuracy = tf.reduce_sum(tf.cast(correct_preds, tf.float32))
with tf.name_scope('summaries'):
    tf.summary.scalar('loss', loss)
    tf.summary.scalar('accuracy', accuracy)
    tf.summary.histogram('histogram loss', entropy)
    summary_op = tf.summary.merge_all()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(w)[:2])
    for epoch in range(5):
        for i in range(0, 200, 50):
            _, l, s = sess.run([optimizer, loss, summary_op], {X: features[i:i + 50], Y: onehot[i:i + 50]})
        print('loss %.6f' % l)
    print('Accuracy', accuracy.eval({X: features, Y: onehot}) / 200)
    summ = tf.Summary.FromString(s)
    for v in summ.value:
        print(v.tag, v.WhichOneof('value'), round(v.simple_value, 5), v.metadata.plugin_data.plugin_name, v.histo.num)
print(tf.get_collection(tf.GraphKeys.SUMMARIES))
print([v.op.name for v in tf.global_variables()])
