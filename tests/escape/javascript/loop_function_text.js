const text = Function('x '.repeat(0) + 'return 1').toString();
while (true) text.replaceAll('1', '11');
