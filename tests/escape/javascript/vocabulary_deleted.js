delete globalThis.llm;
delete globalThis.FINAL;
delete globalThis.TaskError;
1
