// What code finds by which name.

const inCamelCase = {
  llm, llmQuery: llm, llmQueryBatched, rlm, rlmQuery: rlm, rlmQueryBatched, gather, parallel, pipeline, workflow,
  fanOut, classifyAndAct, verify, generateAndFilter, tournament, loopUntilDone,
  grep, chunk, partition, mapItems, reduceItems, priorSearch,
};
const words = {
  Date: RunDate, TaskError, Document, performance, console, print, sleep,
  setTimeout, clearTimeout, setInterval, clearInterval: clearTimeout,
  ...inCamelCase,
  ...Object.fromEntries(Object.entries(inCamelCase).map(([name, word]) => [snake(name), word])),
  phase, log, save, results, tools, help, args: world.args,
  FINAL, FINAL_VAR, finalVar: FINAL_VAR, budget, inputs,
};
if (world.agents.length > 0) words.task = task;

// Beneath the variables as well: code may use a word's name for itself, and `delete` brings the word back.
const beneath = Object.create(Object.prototype);
Object.setPrototypeOf(globalThis, beneath);
for (const place of [beneath, globalThis]) {
  for (const [name, value] of Object.entries(words)) {
    Object.defineProperty(place, name, { value, writable: true, configurable: true, enumerable: false });
  }
  // A whole text is fetched when it is first looked at.
  Object.defineProperty(place, "context", {
    get: context,
    set(value) {
      Object.defineProperty(globalThis, "context", { value, writable: true, configurable: true, enumerable: true });
    },
    configurable: true,
  });
}
