throw new Error('x\n'.repeat(20000000));
