while (true) print('x'.repeat(1000));
