FINAL([NaN, Infinity, -0, 1e308 * 10]);
