print('🙂'.repeat(20000000));
