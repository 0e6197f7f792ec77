"""word2vec with noise-contrastive estimation: sparse gradients into the embeddings."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(15)
rng = np.random.RandomState(12)
VOCAB, SIZE = 60, 8
centre = tf.placeholder(tf.int32, [16], name="center_words")
context = tf.placeholder(tf.int32, [16, 1], name="target_words")
with tf.name_scope("embed"):
    matrix = tf.get_variable(
        "embed_matrix", [VOCAB, SIZE], initializer=tf.random_uniform_initializer(-1, 1))
    embed = tf.nn.embedding_lookup(matrix, centre, name="embedding")
with tf.name_scope("loss"):
    weight = tf.get_variable(
        "nce_weight", [VOCAB, SIZE], initializer=tf.random_uniform_initializer(-0.3, 0.3))
    bias = tf.get_variable("nce_bias", initializer=tf.zeros([VOCAB]))
    candidates = tf.nn.log_uniform_candidate_sampler(
        tf.cast(context, tf.int64), 1, 10, True, VOCAB, seed=4)
    loss = tf.reduce_mean(tf.nn.nce_loss(
        weights=weight, biases=bias, labels=context, inputs=embed, num_sampled=10,
        num_classes=VOCAB, sampled_values=candidates), name="loss")
    softmax = tf.reduce_mean(tf.nn.sampled_softmax_loss(
        weight, bias, context, embed, 10, VOCAB, sampled_values=candidates))
train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
norm = tf.sqrt(tf.reduce_sum(tf.square(matrix), 1, keep_dims=True))
similarity = tf.matmul(matrix / norm, matrix / norm, transpose_b=True)
nearest = tf.nn.top_k(similarity[:3], k=4)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(20):
        words = rng.randint(0, VOCAB, 16)
        feed = {centre: words, context: ((words * 7 + 3) % VOCAB)[:, None]}
        _, value, other = sess.run([train, loss, softmax], feed)
        print("step", i, "loss", float(value), "softmax", float(other))
    print(sess.run(nearest).indices.tolist())
