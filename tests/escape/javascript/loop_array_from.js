Array.from({ [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) }, () => 0);
