// Beneath the words that code in a JavaScript cell can use: its calls, what drives its cells, its time and its output.
//
// The files of this folder are parts of one function, in the order in which the interpreter puts them together. It calls
// that with `ask`, a function that asks it something and blocks, and with `told`, what it knows of the run, both as JSON; what
// it gets back, `engine`, it drives the cells with. Everything else is out of reach of cells.

// --- What code cannot take away -----------------------------------------------------------------------------

// Code can change all that the language comes with. What drives cells, and what shows what they came to, keeps its own.
// It has no templates either, which QuickJS builds with `concat`, and takes no array apart, which asks for its iterator.
const { Array, Date, Error, Infinity, Map, Math, Number, Object, Promise, Proxy, RegExp, Set, String, Symbol } = globalThis;
const { RangeError, ReferenceError, Reflect, TypeError, parseInt } = globalThis;
const { parse, stringify } = JSON;
const { defineProperty, entries, getOwnPropertyDescriptor, setPrototypeOf } = Object;
const { isArray } = Array;
const own = (method) => Function.prototype.call.bind(method);
const isA = own(Function.prototype[Symbol.hasInstance]);
const [includes, slice, join, then] = [String.prototype.includes, String.prototype.slice, Array.prototype.join, Promise.prototype.then].map(own);
const [eachOfMap, eachOfSet] = [Map.prototype.forEach, Set.prototype.forEach].map(own);
const withOwn = (object, kind, names) => {
  for (const name of names) defineProperty(object, name, getOwnPropertyDescriptor(kind.prototype, name));
  return object;
};
const list = (...values) => setPrototypeOf(values, null);
function mapped(values, make) {
  const made = list();
  for (let index = 0; index < values.length; index += 1) made[index] = make(values[index]);
  return made;
}
// Nothing honest adds to what all objects inherit, and the language itself asks any object for `then`, `get` or `value`.
Object.preventExtensions(Object.prototype);

// --- Calls ------------------------------------------------------------------------------------------------

class TaskError extends Error {
  constructor(kind, message, retryable = false) {
    super(`${kind}: ${message}`);
    this.name = "TaskError";
    this.kind = kind;
    this.retryable = retryable;
  }
}

const MOST_AT_ONCE = 1000;
const MOST_DEPTH = 200;
const world = parse(told);
let now = world.started;

const open = withOwn(new Map(), Map, ["get", "set", "delete", "clear", "size"]); // by ticket: how to settle the call's promise
let openTimers = 0;
let outgoing = list();
let arrived = list(); // answers not yet settled, from `nextArrived` on
let nextArrived = 0;
let lastTicket = 0;

// The cell that runs: what it came to, and whether nothing more is to be waited for.
let cell = 0;
let outcome = null;
let finished = false;
let answers = false; // whether what it comes to is the run's answer

function call(name, given, read) {
  const text = encoded(given);
  const waiting = { isTimer: name === "sleep", read, promise: null, resolve: null, reject: null };
  waiting.promise = new Promise((resolve, reject) => {
    waiting.resolve = resolve;
    waiting.reject = reject;
  });
  lastTicket += 1;
  open.set(lastTicket, waiting);
  openTimers += waiting.isTimer;
  outgoing[outgoing.length] = "[" + lastTicket + ',"' + name + '",' + text + "]";
  return waiting.promise;
}

// Take back calls that were not yet sent: those of these promises.
function withdraw(promises, error) {
  const given = withOwn(new Set(), Set, ["add", "has"]);
  for (let index = 0; index < promises.length; index += 1) given.add(promises[index]);
  const kept = list();
  for (let index = 0; index < outgoing.length; index += 1) {
    const ticket = parseInt(slice(outgoing[index], 1), 10);
    const waiting = open.get(ticket);
    if (waiting !== undefined && given.has(waiting.promise)) {
      open.delete(ticket);
      openTimers -= waiting.isTimer;
      waiting.reject(error);
    } else {
      kept[kept.length] = outgoing[index];
    }
  }
  outgoing = kept;
}

function callNow(name, given) {
  const isLocal = name === "document";
  const text = encoded(given);
  const queued = isLocal ? "" : takeOutgoing();
  const answer = parse(ask('["' + name + '",' + text + ",[" + queued + "]]"));
  if (!isLocal) {
    // What came before this answer comes first, as it does when the run is replayed.
    while (hasArrived()) settle(takeArrived());
    for (let index = 0; index < answer.earlier.length; index += 1) settle(answer.earlier[index]);
    if (answer.at > now) now = answer.at;
  }
  if (answer.error !== undefined) throw errorOf(answer.error);
  return answer.value;
}

function takeOutgoing() {
  const queued = outgoing;
  outgoing = list();
  return join(queued, ",");
}

const hasArrived = () => nextArrived < arrived.length;

function takeArrived() {
  const answer = arrived[nextArrived];
  nextArrived += 1;
  if (!hasArrived()) {
    arrived = list();
    nextArrived = 0;
  }
  return answer;
}

function settle(answer) {
  const { 0: ticket, 1: succeeded, 2: value, 3: at } = answer;
  if (at > now) now = at;
  const waiting = open.get(ticket);
  if (waiting === undefined) return;
  open.delete(ticket);
  openTimers -= waiting.isTimer;
  if (succeeded) waiting.resolve(waiting.read === undefined ? value : waiting.read(value));
  else waiting.reject(errorOf(value));
}

const known = { __proto__: null, ValueError: RangeError, IndexError: RangeError, TypeError };
function errorOf(problem) {
  if (problem.kind !== undefined) return new TaskError(problem.kind, problem.message, problem.retryable);
  const error = new (known[problem.type] ?? Error)(problem.message);
  if (known[problem.type] === undefined) error.name = problem.type;
  return error;
}

// What is given, as JSON. What that would drop or blur without a word is refused or said in full.
function encoded(given) {
  const holders = list();
  let depth = 0;
  return stringify(given, function (key, value) {
    if (typeof value === "function" || typeof value === "symbol") throw notPlain(value, "pass text, numbers, arrays or objects");
    if (typeof value !== "object" || value === null) return value;
    if (isA(Promise, value)) throw notPlain(value, "await it first");
    if (isA(Document, value) || isA(Pieces, value)) throw notPlain(value, "pass a slice");
    while (depth > 0 && holders[depth - 1] !== this) depth -= 1;
    if (depth === MOST_DEPTH) throw new RangeError(`this value is nested more than ${MOST_DEPTH} deep`);
    const plain = isA(Set, value) ? mapped(listed(eachOfSet, value), (pair) => pair[1]) : isA(Map, value) ? Object.fromEntries(value) : value;
    holders[depth] = plain;
    depth += 1;
    return plain;
  });
}

const notPlain = (value, hint) => new TypeError(`${show(value)} is not plain data: ${hint}`);

// --- What drives a cell -----------------------------------------------------------------------------------

const engine = {
  take(text) {
    const taken = parse(text);
    if (taken.is_workflow) {
      answers = true;
    } else if (taken.answers !== undefined) {
      for (let index = 0; index < taken.answers.length; index += 1) arrived[arrived.length] = taken.answers[index];
    } else {
      outcome = taken;
      finished = true;
    }
  },
  next() {
    if (!hasArrived() || outgoing.length >= MOST_AT_ONCE || isOver()) return false;
    settle(takeArrived());
    return true;
  },
  report() {
    if (isOver()) return end();
    return '{"open":' + open.size + ',"more":' + hasArrived() + ',"calls":[' + takeOutgoing() + "]}";
  },
  watch(promise) {
    const watched = cell;
    const note = (come) => {
      if (cell === watched) outcome ??= come;
    };
    defineProperty(promise, "constructor", { value: undefined }); // or code would be asked what comes of `then`
    then(
      promise,
      (result) => note(cameTo(result.value)),
      (error) => note({ error: described(error) }),
    );
  },
  fail(error) {
    outcome = { error: described(error) };
  },
  stack: () => String(new Error().stack),
};

// What a saved workflow comes to is the run's answer, unless it has given one.
function cameTo(value) {
  if (!answers || finished || value === undefined || value === null) return { value };
  try {
    FINAL(value);
    return {};
  } catch (error) {
    return { error: described(error) };
  }
}

function isOver() {
  return outcome !== null && (finished || open.size === openTimers);
}

function end() {
  let ended;
  try {
    const value = outcome.value === undefined ? null : cut(show(outcome.value));
    ended = endedWith(value, outcome.error, cut(join(printed, ""), printedSize));
  } catch (error) {
    ended = endedWith(null, described(error), "");
  }
  open.clear();
  openTimers = printedSize = nextArrived = 0;
  outgoing = list();
  arrived = list();
  printed = list();
  outcome = null;
  finished = answers = false;
  cell += 1;
  return ended;
}

function endedWith(value, error, stdout) {
  let text = '"value":' + stringify(value) + ',"stdout":' + stringify(stdout);
  if (error !== undefined) {
    text += ',"error":{"type":' + stringify(error.type) + ',"message":' + stringify(error.message);
    text += ',"stack":' + stringify(error.stack) + "}";
  }
  return '{"ended":{' + text + "}}";
}

function described(error) {
  try {
    if (!isA(Error, error)) return { type: "Error", message: show(error), stack: "" };
    return { type: String(error.name), message: String(error.message), stack: String(error.stack ?? "") };
  } catch {
    return { type: "Error", message: "[it cannot be shown]", stack: "" };
  }
}

// --- Time and chance are the run's ------------------------------------------------------------------------

const { floor, imul } = Math;
const milliseconds = () => floor(now * 1000);
const RunDate = new Proxy(Date, {
  construct: (target, given, self) => Reflect.construct(target, given.length === 0 ? [milliseconds()] : given, self),
  apply: () => new Date(milliseconds()).toString(),
});
Date.now = milliseconds;
Date.prototype.constructor = RunDate;
const performance = Object.freeze({ now: () => (now - world.started) * 1000 });

let chance = world.chance >>> 0;
function random() {
  chance = (chance + 0x6d2b79f5) >>> 0;
  let mixed = imul(chance ^ (chance >>> 15), chance | 1);
  mixed ^= mixed + imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
}
Math.random = random;

const sleep = (wait) => call("sleep", { until: now + Math.max(0, Number(wait) || 0) / 1000 });
const timers = new Set();
let lastTimer = 0;
function setTimeout(run, wait = 0, ...given) {
  const timer = ++lastTimer;
  timers.add(timer);
  sleep(wait).then(() => timers.delete(timer) && run(...given)).catch(warn);
  return timer;
}
function setInterval(run, wait = 0, ...given) {
  const timer = ++lastTimer;
  timers.add(timer);
  const again = () => {
    if (!timers.has(timer)) return;
    run(...given);
    sleep(wait).then(again).catch(warn);
  };
  sleep(wait).then(again).catch(warn);
  return timer;
}
const clearTimeout = (timer) => void timers.delete(timer);
const warn = (error) => print(`warning: a timer failed: ${show(error)}`);

// --- Output -----------------------------------------------------------------------------------------------

const LONGEST = 2_000_000;
let printed = list();
let printedSize = 0;
function print(...values) {
  const text = join(mapped(values, (value) => (typeof value === "string" ? value : show(value))), " ") + "\n";
  if (printedSize < LONGEST) printed[printed.length] = slice(text, 0, LONGEST - printedSize);
  printedSize += text.length;
}

const WORD = withOwn(/^\w+$/, RegExp, ["exec", "test"]);
const iso = own(Date.prototype.toISOString);
const enclosed = (before, texts, after) => before + join(texts, ", ") + after;
const listed = (each, values) => {
  const texts = list();
  each(values, (value, key) => (texts[texts.length] = [key, value]));
  return texts;
};

function show(value, above = null, depth = 0) {
  switch (typeof value) {
    case "string":
      return depth === 0 && includes(value, "\n") ? value : stringify(value);
    case "function":
      return "[function " + (value.name || "anonymous") + "]";
    case "bigint":
      return String(value) + "n";
    case "symbol":
      return String(value);
    case "object":
      break;
    default:
      return String(value);
  }
  if (value === null) return "null";
  for (let outer = above; outer !== null; outer = outer.above) if (outer.value === value) return "[circular]";
  if (depth > 6) return "…";
  const inside = { value, above };
  const each = (item) => show(item, inside, depth + 1);
  if (isA(Error, value)) return value.name + ": " + value.message;
  if (isA(Document, value) || isA(Match, value) || isA(Pieces, value) || isA(RegExp, value)) return String(value);
  if (isA(Date, value)) return iso(value);
  if (isA(Promise, value)) return "[promise: await it]";
  if (isArray(value)) return enclosed("[", mapped(value, each), "]");
  if (isA(Map, value)) {
    return enclosed("Map {", mapped(listed(eachOfMap, value), (pair) => each(pair[0]) + ": " + each(pair[1])), "}");
  }
  if (isA(Set, value)) return enclosed("Set {", mapped(listed(eachOfSet, value), (pair) => each(pair[1])), "}");
  const name = value.constructor?.name;
  const fields = mapped(entries(value), (pair) => (WORD.test(pair[0]) ? pair[0] : stringify(pair[0])) + ": " + each(pair[1]));
  return enclosed(name && name !== "Object" ? name + " {" : "{", fields, "}");
}

function cut(text, size = text.length) {
  if (size <= LONGEST) return text;
  return slice(text, 0, LONGEST) + "\n[cut: " + grouped(size) + " characters in all, " + grouped(LONGEST) + " kept]";
}

function grouped(number) {
  const digits = String(number);
  return digits.length <= 3 ? digits : grouped(slice(digits, 0, -3)) + "," + slice(digits, -3);
}
