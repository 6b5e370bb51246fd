/(x+x+)+\1y/.test('x'.repeat(5000))
