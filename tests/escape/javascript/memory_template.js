const text = 'x'.repeat(1e6);
const kept = [];
while (true) kept.push(`${text}${kept.length}${text}`);
