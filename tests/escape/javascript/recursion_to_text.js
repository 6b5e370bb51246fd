const odd = { toString() { return `${this}`; } };
`${odd}`
