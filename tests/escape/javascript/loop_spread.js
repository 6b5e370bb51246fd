[...{ [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }) }) }];
