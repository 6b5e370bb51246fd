/(?<=(a+)+)b$/.test('a'.repeat(50000))
