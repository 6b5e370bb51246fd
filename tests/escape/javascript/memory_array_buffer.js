new ArrayBuffer(2 ** 40);
