const odd = { [Symbol.toPrimitive]() { while (true) {} } };
`${odd}`
