await gather(Array.from({ length: 20000 }, (_, n) => sleep(n)));
