for (const _ of { [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }) }) });
