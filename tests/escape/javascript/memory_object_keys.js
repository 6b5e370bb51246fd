const grown = {};
for (let n = 0; ; n += 1) grown[`key${n}`] = n;
