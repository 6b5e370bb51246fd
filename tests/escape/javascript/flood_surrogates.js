print('\ud800'.repeat(5000000));
'\udfff'.repeat(5000000)
