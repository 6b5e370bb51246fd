const odd = {};
odd.me = odd;
FINAL({ odd });
