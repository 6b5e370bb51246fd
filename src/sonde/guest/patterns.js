// Six ways to put many agents to work, each with phases that can be watched: the twin of patterns.py.

const objectOf = (name, kind) => ({ type: "object", properties: { [name]: kind }, required: [name] });
const VERDICT = objectOf("confirmed", { type: "boolean" });
const WINNER = objectOf("winner", { type: "string", enum: ["A", "B"] });
const SCORE = objectOf("score", { type: "number" });
const ITEMS = objectOf("items", { type: "array" });

const RULES = ["majority", "all", "any"];
const SIDES = [
  "Look for evidence that it is true.",
  "Look for evidence that it is false.",
  "Check every detail: names, numbers, places, dates.",
  "Look for another explanation of what it rests on.",
  "Ask whether it holds in all cases, or only in some.",
];

const begin = (name) => call("phase", { name });
const field = (value, name) => (isOptions(value) && name in value ? value[name] : value);
const succeeded = (outcome) => outcome.status === "fulfilled";
const allOf = (items, run) => Promise.allSettled(items.map(async (item, at) => run(item, at)));

// Have a function work on what is given, or the subagent of that name on what is asked: the item as text.
async function work(worker, given, asked, schema) {
  if (typeof worker !== "string") return worker(...given);
  return task({ description: asked ?? itemText(given.length === 1 ? given[0] : given), subagentType: worker, responseSchema: schema });
}

function itemText(item) {
  if (isText(item)) return String(item);
  return stringify(item) ?? String(item);
}

async function fanOut(items, worker, ...given) {
  const [synthesize] = named(given, ["synthesize"]);
  const listed = bounded(items);
  await begin("fan out");
  const outcomes = await allOf(listed, (item) => work(worker, [item]));
  const values = withoutFailures("fanOut", outcomes);
  if (synthesize === undefined || synthesize === null) return values;
  await begin("synthesize");
  return work(synthesize, [outcomes.filter(succeeded).map((outcome) => outcome.value)]);
}

async function classifyAndAct(items, classifier, routes, ...given) {
  const [otherwise] = named(given, ["default"]);
  const listed = bounded(items);
  await begin("classify");
  const labels = await allOf(listed, (item) => work(classifier, [item]));
  withoutFailures("classifyAndAct: labels", labels);
  const acting = [];
  labels.forEach((label, number) => {
    if (succeeded(label)) acting.push([number, routeOf(number, field(label.value, "label"), routes, otherwise)]);
  });
  await begin("act");
  const outcomes = await allOf(acting, ([number, worker]) => work(worker, [listed[number]]));
  const values = listed.map(() => null);
  withoutFailures("classifyAndAct", outcomes).forEach((value, at) => (values[acting[at][0]] = value));
  return values;
}

function routeOf(number, label, routes, otherwise) {
  const bare = (name) => String(name).trim().toLowerCase();
  const pairs = routes instanceof Map ? [...routes] : Object.entries(routes);
  const found = pairs.find(([route]) => route === label || bare(route) === bare(label));
  if (found !== undefined) return found[1];
  if (otherwise !== undefined && otherwise !== null) return otherwise;
  const known = pairs.map(([route]) => route).join(", ");
  throw new RangeError(`item ${number} was labelled ${show(label)}; known: ${known}. Give a default for all others`);
}

async function verify(findings, ...given) {
  const [n = 3, rule = "majority", verifier] = named(given, ["n", "rule", "verifier"]);
  if (!RULES.includes(rule)) throw new RangeError(`verify: rule ${show(rule)}; use one of ${RULES.join(", ")}`);
  if (!Number.isInteger(n) || n < 1) throw new RangeError(`verify: n=${show(n)}: at least one must look`);
  const listed = bounded(findings);
  await begin("verify");
  const looks = listed.flatMap((finding) => Array.from({ length: n }, (_, number) => [finding, number]));
  const verdicts = withoutFailures("verify: verdicts", await allOf(looks, ([finding, number]) => verdictOf(verifier, finding, number)));
  const dropped = [];
  const kept = listed.filter((_, number) => {
    const votes = verdicts.slice(number * n, (number + 1) * n);
    const why = refusalOf(votes.filter((vote) => vote === true).length, votes.filter((vote) => vote === false).length, rule);
    if (why !== null) dropped.push(`number ${number} ${why}`);
    return why === null;
  });
  if (dropped.length > 0) {
    const more = dropped.length > 20 ? ` and ${dropped.length - 20} more` : "";
    print(`verify: ${kept.length} of ${listed.length} kept; dropped: ${dropped.slice(0, 20).join(", ")}${more}`);
  }
  return kept;
}

async function verdictOf(verifier, finding, number) {
  const asked = `${itemText(finding)}\n\nIs this so? ${SIDES[number % SIDES.length]} Confirm it only if you are sure.`;
  const ask = verifier ?? ((_) => llm(asked, { schema: VERDICT, label: "verify" }));
  const verdict = field(await work(ask, [finding], asked, VERDICT), "confirmed");
  if (typeof verdict === "string") {
    if (/^\s*(yes|true|confirm)/i.test(verdict)) return true;
    return /^\s*(no|false|refut)/i.test(verdict) ? false : null;
  }
  return verdict === undefined || verdict === null || isOptions(verdict) ? null : Boolean(verdict);
}

function refusalOf(confirmed, refuted, rule) {
  if (confirmed + refuted === 0) return "unverified";
  if (rule === "majority" && confirmed === refuted) return `tied ${confirmed}:${refuted}`;
  const keep = { majority: confirmed > refuted, all: refuted === 0, any: confirmed > 0 }[rule];
  return keep ? null : `refuted ${refuted}:${confirmed}`;
}

async function generateAndFilter(n, generate, score, ...given) {
  const [keep = 1] = named(given, ["keep"]);
  if (!(n >= 0) || !(keep >= 0)) throw new RangeError(`generateAndFilter: n=${show(n)}, keep=${show(keep)}: neither can be less than 0`);
  const numbers = bounded(Array.from({ length: n }, (_, at) => at + 1));
  await begin("generate");
  const made = await allOf(numbers, (number) => work(generate, [number], `Make proposal ${number} of ${n}, on your own.`));
  withoutFailures("generateAndFilter: proposals", made);
  const proposals = made.filter(succeeded).map((outcome) => outcome.value);
  await begin("filter");
  const scores = await allOf(proposals, async (proposal) => {
    const value = field(await work(score, [proposal], undefined, SCORE), "score");
    if (typeof value !== "number" || Number.isNaN(value)) throw new TypeError(`a score must be a number, not ${show(value)}`);
    return value;
  });
  withoutFailures("generateAndFilter: scores", scores);
  const scored = scores.map((outcome, at) => [outcome, at]).filter(([outcome]) => succeeded(outcome));
  scored.sort(([first, at], [second, other]) => second.value - first.value || at - other);
  return scored.slice(0, keep).map(([, at]) => proposals[at]);
}

async function tournament(entries, judge) {
  let left = bounded(entries);
  if (left.length === 0) throw new RangeError("tournament: there are no entries");
  for (let round = 1; left.length > 1; round += 1) {
    await begin(`tournament round ${round}`);
    const pairs = Array.from({ length: left.length >> 1 }, (_, at) => [left[2 * at], left[2 * at + 1]]);
    const outcomes = await allOf(pairs, ([first, second]) => winnerOf(judge, first, second));
    left = outcomes
      .map((outcome, at) => {
        if (succeeded(outcome)) return outcome.value;
        print(`tournament: round ${round}, pair ${at}: the first stands, for its judge failed: ${errorText(outcome.reason)}`);
        return pairs[at][0];
      })
      .concat(left.slice(2 * pairs.length));
  }
  return left[0];
}

async function winnerOf(judge, first, second) {
  const asked = `Which is better?\n\nA:\n${itemText(first)}\n\nB:\n${itemText(second)}`;
  const said = field(await work(judge, [first, second], asked, WINNER), "winner");
  if (said === "A" || said === first) return first;
  if (said === "B" || said === second) return second;
  const letter = typeof said === "string" ? said.trim().toUpperCase() : "";
  if (letter === "A" || letter === "B") return letter === "A" ? first : second;
  throw new RangeError(`it said ${show(said)}, neither A nor B`);
}

async function loopUntilDone(step, ...given) {
  const [key, dryRounds = 1, maxRounds = 20] = named(given, ["key", "dryRounds", "maxRounds"]);
  if (!(dryRounds >= 1) || !(maxRounds >= 1)) {
    throw new RangeError(`loopUntilDone: dryRounds=${show(dryRounds)}, maxRounds=${show(maxRounds)}: both must be above 0`);
  }
  const found = [];
  const seen = new Set();
  let [fine, dry, failed] = [0, 0, 0];
  for (let round = 1; round <= maxRounds; round += 1) {
    await begin(`round ${round}`);
    try {
      const items = await itemsOf(step, found);
      const fresh = items.filter((item) => isFresh(item, key, seen));
      found.push(...fresh);
      dry = fresh.length > 0 ? 0 : dry + 1;
      fine += 1;
      failed = 0;
    } catch (error) {
      failed += 1;
      print(`loopUntilDone: round ${round} failed: ${errorText(error)}`);
      if (failed < 2) continue;
      if (fine === 0) throw error;
      print("loopUntilDone: two rounds in a row failed: more may be left");
      return found;
    }
    if (dry === dryRounds) return found;
  }
  print(`loopUntilDone: stopped after ${maxRounds} rounds, before ${dryRounds} without anything new: more may be left`);
  return found;
}

async function itemsOf(step, found) {
  const asked = `Find what is not yet among these, as items; none if there is nothing more:\n${itemText(found)}`;
  const items = field(await work(step, [[...found]], asked, ITEMS), "items");
  if (typeof items === "string") throw new TypeError("a step returns a list of items, not text");
  return Array.from(items ?? []);
}

function isFresh(item, key, seen) {
  const name = canonical(key === undefined || key === null ? item : typeof key === "string" ? item[key] : key(item));
  if (seen.has(name)) return false;
  seen.add(name);
  return true;
}

// A text that is the same for values that are alike.
function canonical(value) {
  const inOrder = (_, each) =>
    isOptions(each) ? Object.fromEntries(Object.entries(each).sort(([first], [second]) => (first < second ? -1 : 1))) : each;
  return stringify(value, inOrder) ?? String(value);
}
