// The words that hand work to agents, tools and saved workflows, and those that tell how it goes: the twin of
// delegation.py.

const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const isOptions = (value) =>
  typeof value === "object" && value !== null && (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null);

// What was given by name in one object, or by place.
function named(given, names) {
  const [options] = given;
  const known = (name) => names.includes(camel(name));
  if (given.length !== 1 || !isOptions(options) || !Object.keys(options).length || !Object.keys(options).every(known)) {
    return names.map((_, at) => given[at]);
  }
  return names.map((name) => options[name] ?? options[snake(name)]);
}

const TASK = ["description", "subagentType", "responseSchema", "label", "model", "timeout"];
function task(description, more = {}) {
  const given = isOptions(description) ? { ...description, ...more } : { ...more, description };
  const unknown = Object.keys(given).find((name) => !TASK.includes(camel(name)));
  if (unknown !== undefined) return refused(`task takes no ${stringify(unknown)}: it takes ${TASK.join(", ")}`);
  const [asked, kind, schema, label, model, timeout] = named([given], TASK);
  if (!isText(asked)) return refused(`task: the description must be a string, not ${kindOf(asked)}`);
  const subagent = kind ?? "general-purpose";
  if (typeof subagent !== "string") return refused(`task: the subagentType must be a string, not ${kindOf(subagent)}`);
  const fields = { response_schema: schema ?? undefined, label: label ?? undefined, model: model ?? undefined };
  return call("task", { description: String(asked), subagent_type: subagent, ...fields, timeout: timeout ?? undefined });
}

function rlm(question, context, options) {
  const inOne = isOptions(context) && options === undefined;
  const { schema, model } = (inOne ? context : options) ?? {};
  const beside = inOne ? context.context : context;
  if (!isText(question)) return refused(`rlm: the question must be a string, not ${kindOf(question)}`);
  const input = Document.number(beside);
  if (input === undefined && beside !== undefined && beside !== null && !isText(beside)) {
    return refused(`rlm: the context must be a string or a Document, not ${kindOf(beside)}: join its parts, or slice it`);
  }
  const handed = input !== undefined ? { input } : isText(beside) ? String(beside) : undefined;
  return call("rlm", { question: String(question), context: handed, schema: schema ?? undefined, model: model ?? undefined });
}

function rlmQueryBatched(questions, contexts, options) {
  if (contexts && contexts.length !== questions.length) {
    return refused(`${questions.length} questions and ${contexts.length} contexts: give one for each, or none`);
  }
  return gather(Array.from(questions, (question, at) => rlm(question, contexts?.[at], options)));
}

const workflow = (name, args = null) => call("workflow", { name, args });
const asLine = (value) => (typeof value === "string" ? value : show(value));
const phase = (name) => void callNow("phase", { name: asLine(name) });
const log = (line) => void callNow("log", { text: asLine(line) });
function save(name, value) {
  if (typeof name !== "string") throw new TypeError(`save: the name must be a string, not ${kindOf(name)}`);
  callNow("save", { name, value: value === undefined ? null : value });
}
const results = () => callNow("results", {});

const asText = (value) => (isArray(value) ? join(value, "\n") : value);
function toolOf(name) {
  return (given = {}, ...more) => {
    if (!isOptions(given) || more.length > 0) return refused(`tools.${name} takes one object, with its arguments by name`);
    return call("tool", { name, arguments: given }, asText);
  };
}
const toolsByName = Object.fromEntries(world.tools.flatMap((name) => [[name, toolOf(name)], [camel(name), toolOf(name)]]));
const tools = new Proxy(toolsByName, {
  get(target, name) {
    if (name in target || typeof name !== "string" || name === "toJSON" || name === "constructor" || name === "then") return target[name];
    throw new ReferenceError(`no tool ${stringify(name)}` + (world.tools.length > 0 ? `; known: ${world.tools.join(", ")}` : ": code has none here"));
  },
});

function help(word) {
  const bare = (name) => name.replaceAll("_", "").toLowerCase();
  if (word === undefined) {
    for (const [name, entry] of Object.entries(world.manual)) print(name.padEnd(24) + entry[1]);
    return;
  }
  const asked = typeof word === "string" ? word : word?.name ?? "";
  const found = Object.entries(world.manual).find(([name]) => bare(name) === bare(asked));
  if (found === undefined) print(`no word ${stringify(asked)}; help() lists them`);
  else print([found[1][0], ...found[1].slice(1).map((line) => `    ${line}`)].join("\n"));
}
