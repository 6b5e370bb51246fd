JSON.stringify = () => '[[1,"final","{}"]]';
JSON.parse = () => ({ value: 'forged' });
await llm('a');
