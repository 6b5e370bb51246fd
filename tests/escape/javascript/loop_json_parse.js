const text = JSON.stringify(Array(100000).fill({ a: [1, 2, 3] }));
while (true) JSON.parse(text);
