"""Matrix products, decompositions, solvers and diagonals."""
