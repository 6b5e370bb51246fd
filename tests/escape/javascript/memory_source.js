eval('1;'.repeat(20000000));
