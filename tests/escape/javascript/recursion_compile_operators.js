eval('-'.repeat(2000000).replaceAll('--', '- -') + '1');
