# Answer a question from many documents. Each is read for what bears on the question, with quotes; code looks the quotes
# up, so that a citation always leads to a place that is there. One last call writes the answer from what was found.
meta = {
    "name": "answer-corpus",
    "description": "Answer a question from many documents, with citations of document and lines.",
    "whenToUse": "A question whose answer is spread over more documents than fit one prompt.",
    "phases": [
        {"title": "read", "detail": "each document for relevant facts, with quotes"},
        {"title": "condense", "detail": "only if there are more facts than fit one prompt"},
        {"title": "answer", "detail": "from the facts alone, with citations"},
    ],
    "args": {"question": "what is to be answered"},
}

import re

QUESTION = (args or {}).get("question")
if not isinstance(QUESTION, str) or not QUESTION.strip():
    raise ValueError('answer-corpus needs a question: --args \'{"question": "…"}\'')

MOST_LINES = 400  # of one call
MOST_CHARS = 60_000  # of facts in one call
FACTS = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"fact": {"type": "string"}, "quote": {"type": "string"}},
                "required": ["fact", "quote"],
            },
        }
    },
    "required": ["facts"],
}


def pieces_of(document):
    """Return a document in pieces that fit one call."""
    if len(document) > 300 * document.line_count:  # long lines
        return chunk(document, by="chars", size=20_000)
    return chunk(document, by="lines", size=MOST_LINES)


def lines_of(quote, text, first):
    """Return the lines where a quote stands in a text, whatever its spaces; None if it is not there."""
    words = quote.split()
    found = re.search(r"\s+".join(re.escape(word) for word in words), text, re.IGNORECASE) if words else None
    if found is None:
        return None
    begin = first + text.count("\n", 0, found.start())
    return begin, begin + found[0].count("\n")


async def read(piece):
    """Return the facts of a piece, each with where it stands, and those whose quote is not there."""
    reply = await llm(
        f"Question: {QUESTION}\n\nList the facts in this part of {piece.source} that help to answer it, each with a "
        f"short quote, word for word. If there is nothing, the list is empty.\n\n{piece}",
        FACTS,
        label=f"{piece.source} L{piece.first_line}-{piece.last_line}",
    )
    found, unquoted = [], []
    for each in reply["facts"]:
        lines = lines_of(each["quote"], piece, piece.first_line)
        source = {"document": piece.source, "fact": each["fact"], "quote": each["quote"]}
        if lines is None:
            unquoted.append(source)
        else:
            found.append({**source, "lines": list(lines)})
    return {"found": found, "unquoted": unquoted}


def cited(source):
    first, last = source["lines"]
    return f"{source['fact']} [{source['document']} L{first}-{last}]"


async def condense(texts):
    """Return several lists of facts as one shorter one, with the same citations."""
    listed = "\n".join(texts)
    return await llm(
        f"Question: {QUESTION}\n\nShorten this list of facts to what helps to answer it. Keep the citation in square "
        f"brackets after each fact as it is.\n\n{listed}",
        label="condense",
    )


def batches_of(texts):
    """Return texts in lists that each fit one call."""
    batches = [[]]
    for text in texts:
        if batches[-1] and sum(map(len, batches[-1])) + len(text) > MOST_CHARS:
            batches.append([])
        batches[-1].append(text)
    return batches


phase("read")
pieces = [piece for document in inputs.values() for piece in pieces_of(document)]
outcomes = await parallel(*[read(piece) for piece in pieces])
failed = [f"{p.source} L{p.first_line}-{p.last_line}" for p, outcome in zip(pieces, outcomes) if outcome is None]
read_ok = [outcome for outcome in outcomes if outcome is not None]
sources = [source for outcome in read_ok for source in outcome["found"]]
unquoted = [source for outcome in read_ok for source in outcome["unquoted"]]
save("facts", sources)

speaks = {source["document"] for source in sources}
missed = {piece.source for piece, outcome in zip(pieces, outcomes) if outcome is None}
rest = {
    "sources": sources,
    "nothing_in": [name for name in inputs if name not in speaks and name not in missed],
    "unquoted": unquoted,
    "failed": failed,
}
if not sources:
    return {"answer": None, **rest}

texts = [cited(source) for source in sources]
while len(batches_of(texts)) > 1:
    phase("condense")
    shorter = await gather(*[condense(batch) for batch in batches_of(texts)])
    if sum(map(len, shorter)) >= sum(map(len, texts)):
        raise ValueError("the facts do not get shorter: ask a narrower question")
    texts = shorter

phase("answer")
listed = "\n".join(texts)
answer = await llm(
    f"Answer the question from these facts alone. After each statement give its citation in square brackets, as it "
    f"stands after the fact. Say so if they do not answer it.\n\nQuestion: {QUESTION}\n\nFacts:\n{listed}",
    label="answer",
)
return {"answer": answer, **rest}
