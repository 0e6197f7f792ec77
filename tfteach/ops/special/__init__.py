"""Special functions: error, gamma, beta, zeta and Bessel functions."""
