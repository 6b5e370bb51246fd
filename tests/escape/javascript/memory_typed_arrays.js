new Float64Array(2 ** 31).fill(1);
