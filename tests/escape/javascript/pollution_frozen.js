for (const each of Reflect.ownKeys(globalThis)) { try { Object.freeze(globalThis[each]); Object.freeze(globalThis[each].prototype); } catch {} }
await llm('a');
