const grown = new Map([[1, 1]]);
grown.forEach((_, key) => { grown.delete(key); grown.set(key + 1, 1); });
