"""What `help()` in a cell tells: each word with how it is called, one line, and what else is to be known."""

from collections.abc import Iterable

_TEXT = """
context
    The inputs: a text if there is one that is not large, else a document.
    A document has len or length, slices, line(n), lines(a, b), grep, find, count, chunks, records, peek.
inputs["name"]
    One input as a document.
await llm(prompt, schema=None, model=None, label=None, cache=False)
    Ask a model once: it sees the prompt and nothing else.
    With a JSON schema the value is data. With cache the answer is kept for later runs.
    js: await llm(prompt, {schema, model, label, cache})
await task(description, subagent_type="general-purpose", response_schema=None, label=None, model=None, timeout=None)
    Send a subagent, which works with tools of its own and sees the description alone.
    With a JSON schema the value is data: at most 4,096 bytes, 5 deep, 32 properties.
    Each is sent anew and cannot be asked further. Hand it paths, not contents.
    js: await task({description, subagentType, responseSchema, label, model, timeout})
await rlm(question, context=None, schema=None, model=None)
    Ask an agent with an interpreter of its own, one level deeper.
    The context is a text or a document; without one it has the same inputs.
    js: await rlm(question, context, {schema, model})
llm_query(prompt, model=None)
    Ask a model, and block until it answers.
    js: await llmQuery(prompt, {model})
llm_query_batched(prompts, model=None)
    Ask a model many times at once, and block.
    js: await llmQueryBatched(prompts, {model})
rlm_query(question, context=None, model=None)
    Do what rlm does, and block.
    js: await rlmQuery(question, context, {model})
rlm_query_batched(questions, contexts=None, model=None)
    Do so for many at once, each with its own context.
    js: await rlmQueryBatched(questions, contexts, {model})
await gather(*work, return_exceptions=False)
    Wait for all, in order; the first error is raised when all have ended.
    js: await gather(...work)
await parallel(*work)
    Wait for all, in order; what failed is None, and told.
    js: await parallel(...work)
await pipeline(items, *stages)
    Take each item through the stages, with no barrier between them.
    With `async for` the values come one by one.
    js: await pipeline(items, ...stages)
await fan_out(items, worker, synthesize=None)
    Have a worker for each item, then make one of what they gave.
    A worker is a function of the item, or the name of a subagent, which is sent the item as text.
    What failed is None in its place; synthesize gets a list of what did not fail.
    js: await fanOut(items, worker, synthesize)
await classify_and_act(items, classifier, routes, default=None)
    Label each item, and have it done by the worker of its label.
    routes maps labels to workers; a label without one is an error, unless there is a default.
    js: await classifyAndAct(items, classifier, routes, fallback)
await verify(findings, n=3, rule="majority", verifier=None)
    Have each finding checked by n who know nothing of each other; return those confirmed.
    The rule is "majority", "all" or "any" of those who voted; a tie is dropped.
    verifier(finding) gives true, false, {confirmed}, or None, which is no vote; without one llm is asked.
    js: await verify(findings, {n, rule, verifier})
await generate_and_filter(n, generate, score, keep=1)
    Make n proposals, generate(1) to generate(n); return a list of the best, by score(proposal).
    js: await generateAndFilter(n, generate, score, keep)
await tournament(entries, judge)
    Return the entry that wins; judge(a, b) says "A" or "B".
    An odd one out goes on to the next round. Where a judge fails, the first stands.
    js: await tournament(entries, judge)
await loop_until_done(step, key=None, dry_rounds=1, max_rounds=20)
    Call step(found) round after round until nothing new comes; return all that was found.
    key is a function, or the name of a field, that tells items apart.
    js: await loopUntilDone(step, {key, dryRounds, maxRounds})
grep(pattern, source=context, before=20, after=20)
    The lines where a pattern matches: line, text, first, last, and excerpt with the lines around.
    js: grep(pattern, source, {before, after})
chunk(source=context, by="auto", size=None, overlap=0)
    Cut a text or document: by "lines", "section", "function", "chars", or as it suggests.
    js: chunk(source, {by, size, overlap})
partition(items, by=None, size=None)
    The items in lists of a size, or as a dict by what a function or a field gives.
    js: partition(items, by or size)
await map_items(items, worker_or_prompt, schema=None)
    Do the same with each item: a function, or a prompt with {item} in it, which a model is asked.
    js: await mapItems(items, workerOrPrompt, schema)
await reduce_items(items, combine, start=None, batch=None)
    Make one of many with combine(a, b); or with batch, combine(list), level by level.
    js: await reduceItems(items, combine, {start, batch})
await prior_search(likely, rest, look)
    Look into the likely places first, and into the rest only if nothing was found.
    Gives pairs of a place and what look(place) found.
    js: await priorSearch(likely, rest, look)
phase(name)
    Say what is being done from here on.
log(text)
    Say something to whoever watches the run.
save(name, value)
    Keep an intermediate result with the run.
results()
    All finished calls of the last cell that made any, oldest first.
    Each has function, label, request, ok, value, error.
budget
    What the run may spend, and has left: budget.total, budget.spent(), budget.remaining().
    Each has calls, tokens, dollars and seconds.
await tools.NAME(...)
    Use a tool, with its arguments by name.
    js: await tools.NAME({...})
args
    What a saved workflow was given.
await workflow(name, args=None)
    Run a saved workflow within this run.
    js: await workflow(name, args)
FINAL(value)
    Finish with this answer.
FINAL_VAR("name")
    Finish with the value of a variable.
help(word=None)
    Print these words, or all about one of them.
    js: help(word)
"""
_JS = "    js: "

Entry = list[str]
"""How the word is called, one line on it, and more lines."""


def manual(*, js: bool, agents: Iterable[str], tools: Iterable[str]) -> dict[str, Entry]:
    """Return the words that code finds, each with what help tells. Without agents there is no `task`."""
    entries: dict[str, Entry] = {}
    for block in _blocks():
        called, *lines = block
        as_js = next((line.removeprefix(_JS) for line in lines if line.startswith(_JS)), called)
        told = [line.strip() for line in lines if not line.startswith(_JS)]
        form = as_js if js else called
        entries[_name(form)] = [form, *told]
    for word, names in (("task", agents), ("tools", tools)):
        if listed := ", ".join(names):
            entries[word].append(f"There are: {listed}.")
        else:
            del entries[word]
    return entries


def _blocks() -> list[list[str]]:
    blocks: list[list[str]] = []
    for line in _TEXT.strip().splitlines():
        if line.startswith(" "):
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return blocks


def _name(form: str) -> str:
    name = form.removeprefix("await ")
    return name[: min(at for at in (name.find(mark) for mark in "([. ") if at > 0)] if not name.isidentifier() else name
