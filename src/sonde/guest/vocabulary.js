// The words that code in a JavaScript cell can use: the twin of vocabulary.py.

// --- Words ------------------------------------------------------------------------------------------------

function llm(prompt, { schema, model, label, cache } = {}) {
  if (!isText(prompt)) return refused(`the prompt must be a string, not ${kindOf(prompt)}`);
  return call("llm", { prompt: String(prompt), schema, model, label, cache: cache ? true : undefined });
}

const llmQueryBatched = (prompts, options) => gather(Array.from(prompts, (prompt) => llm(prompt, options)));

const kindOf = (value) => (value === null ? "null" : typeof value);
const refused = (why) => Promise.reject(new TypeError(why));

const tooMany = (count) =>
  new RangeError(
    `${count} in one fan-out; at most ${world.most_items} are allowed: take them in several, or fewer larger ones, ` +
      "or allow more with --max-items",
  );

// The items of one fan-out; more than are allowed are refused before anything is sent.
function bounded(items) {
  const most = world.most_items;
  if (most === null) return Array.from(items);
  const size = items.length ?? items.size;
  const listed = [];
  if (!(size > most)) {
    for (const item of items) if (listed.push(item) > most) break;
    if (listed.length <= most) return listed;
  }
  const error = tooMany(size === undefined ? `more than ${most} items` : `${size} items`);
  withdraw(isArray(items) ? items : listed, error);
  throw error;
}

const listOf = (work) => (work.length === 1 && typeof work[0] === "object" && work[0]?.[Symbol.iterator] ? work[0] : work);

async function gather(...work) {
  const outcomes = await Promise.allSettled(bounded(listOf(work)));
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return outcomes.map((outcome) => outcome.value);
}

function withoutFailures(word, outcomes) {
  const failed = outcomes.map((outcome, number) => [number, outcome]).filter(([, outcome]) => outcome.status === "rejected");
  if (failed.length > 0) {
    const [number, { reason }] = failed[0];
    print(`${word}: ${failed.length} of ${outcomes.length} failed; the first, number ${number}: ${errorText(reason)}`);
  }
  return outcomes.map((outcome) => (outcome.status === "rejected" ? null : outcome.value));
}

const errorText = (reason) => (reason instanceof Error ? `${reason.name}: ${reason.message}` : show(reason));

async function parallel(...work) {
  const begun = bounded(listOf(work)).map(async (each) => (typeof each === "function" ? each() : each));
  return withoutFailures("parallel", await Promise.allSettled(begun));
}

async function through(stages, item, index) {
  let value = item;
  for (const stage of stages) value = await stage(value, item, index);
  return value;
}

const WINDOW = 1000;
function pipeline(items, ...stages) {
  async function* stream() {
    const most = world.most_items;
    const size = items.length ?? items.size;
    if (most !== null && size > most) bounded(items);
    const underWay = [];
    let total = 0;
    const outcomes = [];
    const next = async () => {
      const [outcome] = await Promise.allSettled([underWay.shift()]);
      if (outcome.status === "rejected") outcomes.push(outcome);
      return outcome.status === "rejected" ? null : outcome.value;
    };
    for await (const item of items) {
      if (total === most) throw tooMany(`more than ${most} items`);
      underWay.push(through(stages, item, total));
      underWay[underWay.length - 1].catch(() => {});
      total += 1;
      if (underWay.length === WINDOW) yield await next();
    }
    while (underWay.length > 0) yield await next();
    if (outcomes.length > 0) print(`pipeline: ${outcomes.length} of ${total} failed; the first: ${outcomes[0].reason}`);
  }
  return {
    then: (resolve, reject) =>
      Promise.resolve()
        .then(() => Promise.allSettled(bounded(items).map((item, index) => through(stages, item, index))))
        .then((outcomes) => withoutFailures("pipeline", outcomes))
        .then(resolve, reject),
    [Symbol.asyncIterator]: stream,
  };
}

function FINAL(value) {
  callNow("final", { value: value === undefined ? null : value });
  finished = true;
}

function FINAL_VAR(name) {
  if (!(name in globalThis)) throw new ReferenceError(`FINAL_VAR: there is no variable ${stringify(name)}`);
  FINAL(globalThis[name]);
}

const amounts = (values) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value === null ? Infinity : value]));
const budget = Object.freeze({
  total: Object.freeze(amounts(world.budget)),
  spent: () => amounts(callNow("budget", {}).spent),
  remaining: () => amounts(callNow("budget", {}).remaining),
});

const console = Object.freeze(
  Object.fromEntries(["log", "info", "warn", "error", "debug"].map((name) => [name, print])),
);
