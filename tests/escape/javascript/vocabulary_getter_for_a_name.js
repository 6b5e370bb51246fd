Object.defineProperty(globalThis, 'answer', { get() { while (true) {} } });
FINAL_VAR('answer');
