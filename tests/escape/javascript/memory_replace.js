'x'.repeat(1000000).replaceAll('x', 'y'.repeat(10000));
