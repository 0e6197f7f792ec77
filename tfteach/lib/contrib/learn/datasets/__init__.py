"""`tf.contrib.learn.datasets`: small tables, and CSV files of numbers.

`iris.csv` and `boston_house_prices.csv` are the tables of R. A. Fisher (1936) and of
D. Harrison and D. L. Rubinfeld (1978): the features of a row, then its target.
"""
