const grown = new Set([0]);
for (const n of grown) { grown.delete(n); grown.add(n + 1); }
