Promise = class { constructor() { while (true) {} } };
await llm('a');
