const grown = new Map();
while (true) grown.set({}, 'x'.repeat(100) + grown.size);
