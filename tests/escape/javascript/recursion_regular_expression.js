new RegExp('('.repeat(1000000) + ')'.repeat(1000000));
