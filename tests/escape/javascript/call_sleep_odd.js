await gather(sleep(NaN), sleep(-Infinity), sleep(-1));
