// What can be done with a text or a list as with any data set: the twin of dataset.py.

function grep(what, ...given) {
  const [source, ...more] = isOptions(given[0]) ? [undefined, given[0]] : given;
  const [before = 20, after = 20] = named(more, ["before", "after"]);
  return documentOf(source).grep(what, { before, after });
}

function chunk(...given) {
  const [source, ...more] = isOptions(given[0]) ? [undefined, given[0]] : given;
  const [by = "auto", size = null, overlap = 0] = named(more, ["by", "size", "overlap"]);
  return documentOf(source).chunks({ by, size, overlap });
}

function partition(items, ...given) {
  const [by, size = typeof by === "number" ? by : undefined] = named(given, ["by", "size"]);
  const listed = Array.from(items);
  if (size !== undefined) {
    if (!(size >= 1)) throw new RangeError("partition: give a size above 0, or what to part by");
    return Array.from({ length: Math.ceil(listed.length / size) }, (_, at) => listed.slice(at * size, (at + 1) * size));
  }
  if (typeof by !== "function" && typeof by !== "string") throw new RangeError("partition: give a size above 0, or what to part by");
  const groups = Object.create(null);
  for (const item of listed) (groups[typeof by === "string" ? item[by] : by(item)] ??= []).push(item);
  return groups;
}

async function mapItems(items, workerOrPrompt, given) {
  const schema = isOptions(given) && Object.keys(given).join() === "schema" ? given.schema : given;
  let run = (item) => work(workerOrPrompt, [item]);
  if (typeof workerOrPrompt === "string") {
    if (!workerOrPrompt.includes("{item}")) throw new RangeError("mapItems: the prompt has no {item}, where each item is to stand");
    run = (item) => llm(workerOrPrompt.replaceAll("{item}", () => itemText(item)), { schema: schema ?? undefined });
  } else if (schema !== undefined && schema !== null) {
    throw new RangeError("mapItems: a schema is for a prompt; give it to llm in the function");
  }
  return withoutFailures("mapItems", await allOf(bounded(items), run));
}

async function reduceItems(items, combine, ...given) {
  const [start, batch] = named(given, ["start", "batch"]);
  let left = start === undefined || start === null ? Array.from(items) : [start, ...items];
  if (batch === undefined || batch === null) {
    if (left.length === 0) return null;
    let value = left[0];
    for (const item of left.slice(1)) value = await work(combine, [value, item]);
    return value;
  }
  if (!(batch >= 2)) throw new RangeError(`reduceItems: batch=${show(batch)}: at least two must be combined`);
  while (left.length > 1) {
    left = await gather(partition(left, batch).map(async (group) => (group.length === 1 ? group[0] : work(combine, [group]))));
  }
  return left.length > 0 ? left[0] : null;
}

async function priorSearch(likely, rest, look) {
  const isSome = (value) => Boolean(value) && (isArray(value) || isOptions(value) ? Object.keys(value).length > 0 : true);
  for (const places of [likely, rest]) {
    const listed = bounded(places);
    const values = withoutFailures("priorSearch", await allOf(listed, (place) => work(look, [place])));
    const found = listed.map((place, at) => [place, values[at]]).filter(([, value]) => isSome(value));
    if (found.length > 0) return found;
  }
  return [];
}
