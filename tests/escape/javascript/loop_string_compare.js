const text = 'x'.repeat(1e7);
while (text.localeCompare(text + 'y'));
