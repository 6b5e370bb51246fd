delete Array.prototype[Symbol.iterator];
delete String.prototype[Symbol.iterator];
delete Map.prototype[Symbol.iterator];
Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]?.() ?? new Set().values())).next = null;
await llm('a');
