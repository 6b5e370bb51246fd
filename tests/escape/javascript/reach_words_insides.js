const found = [];
for (const word of [llm, gather, print, FINAL, budget, inputs, context, setTimeout, TaskError, Document]) { for (const each of Reflect.ownKeys(Object(word))) found.push(String(each)); found.push(String(word)); }
found.some((each) => /\bhost\b|native_handle|#/.test(each) && !/^class|^function|^async|^\(/.test(each)) ? `ESCAPED ${found}` : 'held'
