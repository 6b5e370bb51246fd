const grown = new ArrayBuffer(1, { maxByteLength: 2 ** 32 });
grown.resize(2 ** 31);
new Uint8Array(grown).fill(1);
