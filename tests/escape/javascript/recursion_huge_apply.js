Math.max.apply(null, new Array(10000000).fill(1));
