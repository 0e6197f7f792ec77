"""k-means and a self-organizing map in raw TensorFlow: no gradients at all."""
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(8)
corners = np.array([[0, 0], [4, 4], [0, 5]], np.float32)
points_np = (corners[rng.randint(0, 3, 90)] + rng.normal(0, 0.5, [90, 2])).astype(np.float32)
K = 3

points = tf.constant(points_np)
centroids = tf.Variable(tf.slice(points, [0, 0], [K, -1]), name="centroids")
assignments = tf.Variable(tf.zeros([90], tf.int64), trainable=False)
distances = tf.reduce_sum(tf.square(tf.expand_dims(points, 0) - tf.expand_dims(centroids, 1)), 2)
nearest = tf.argmin(distances, 0)
changed = tf.reduce_any(tf.not_equal(nearest, assignments))


def bucket_mean(data, bucket_ids, num_buckets):
    total = tf.unsorted_segment_sum(data, bucket_ids, num_buckets)
    count = tf.unsorted_segment_sum(tf.ones_like(data), bucket_ids, num_buckets)
    return total / count


means = bucket_mean(points, nearest, K)
with tf.control_dependencies([changed]):
    update = tf.group(centroids.assign(means), assignments.assign(nearest))
parts = tf.dynamic_partition(points, tf.to_int32(nearest), K)
spread = [tf.reduce_mean(tf.norm(part - tf.reduce_mean(part, 0), axis=1)) for part in parts]

ROWS, COLUMNS, STEPS = 3, 4, 60
grid = tf.constant([[i, j] for i in range(ROWS) for j in range(COLUMNS)], tf.int64)
weights = tf.Variable(tf.random_normal([ROWS * COLUMNS, 2], seed=4))
vector = tf.placeholder("float", [2])
iteration = tf.placeholder("float")
bmu = tf.argmin(tf.sqrt(tf.reduce_sum(tf.pow(weights - tf.stack([vector] * (ROWS * COLUMNS)), 2), 1)), 0)
bmu_place = tf.reshape(tf.slice(grid, tf.pad(tf.reshape(bmu, [1]), np.array([[0, 1]])),
                                tf.cast(tf.constant(np.array([1, 2])), tf.int64)), [2])
rate = tf.subtract(1.0, tf.div(iteration, float(STEPS)))
alpha, sigma = tf.multiply(0.3, rate), tf.multiply(2.0, rate)
from_bmu = tf.reduce_sum(tf.pow(tf.subtract(grid, tf.stack([bmu_place] * (ROWS * COLUMNS))), 2), 1)
neighbours = tf.exp(tf.negative(tf.div(tf.cast(from_bmu, "float32"), tf.pow(sigma, 2))))
strength = tf.stack([tf.tile(tf.slice(tf.multiply(alpha, neighbours), np.array([i]), np.array([1])), [2])
                     for i in range(ROWS * COLUMNS)])
delta = tf.multiply(strength, tf.subtract(tf.stack([vector] * (ROWS * COLUMNS)), weights))
learn = tf.assign(weights, tf.add(weights, delta))

sess = tf.InteractiveSession()
sess.run(tf.global_variables_initializer())
turns, go = 0, True
while go and turns < 50:
    turns += 1
    go, _ = sess.run([changed, update])
print("turns", turns, np.bincount(assignments.eval()))
print(np.round(centroids.eval(), 3), np.round(sess.run(spread), 3))
for i in range(STEPS):
    sess.run(learn, {vector: points_np[i], iteration: i})
print(np.round(weights.eval(), 2))
print(bmu_place.eval({vector: [4, 4]}))
sess.close()
