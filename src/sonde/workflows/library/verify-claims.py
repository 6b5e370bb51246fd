# Check claims against documents. Passages that share words with a claim are read first, and all others only if those
# say nothing. What is found must be a quote that stands in the passage; three judges who see the quotes alone vote.
meta = {
    "name": "verify-claims",
    "description": "Check each claim against documents: supported, refuted, or not found, with quotes.",
    "whenToUse": "A text whose statements must hold: a summary, a draft, an answer of a model.",
    "phases": [
        {"title": "search", "detail": "likely passages first, the others only if those say nothing"},
        {"title": "judge", "detail": "three votes on each claim that has evidence"},
    ],
    "args": {
        "claims": "optional: the claims, as a list of texts; without it, the sentences of the first input",
    },
}

import re

MOST_LINES = 60  # of one passage
MOST_LIKELY = 8  # passages that are read first
VOTES = 3
FOUND = {
    "type": "object",
    "properties": {"quotes": {"type": "array", "items": {"type": "string"}}},
    "required": ["quotes"],
}
VERDICT = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["supported", "refuted", "not found"]}},
    "required": ["verdict"],
}
COMMON = set(
    "about after also been from have into more most only other over some such than that their them then".split()
)
COMMON |= set("there these they this those were what when where which while will with would".split())


def sentences_of(document):
    """Return the sentences of a text; a blank line ends one too."""
    text = re.sub(r"\n\s*\n", "\x00", str(document))
    found = re.split(r"(?<=[.!?])\s+|\x00", text)
    return [" ".join(each.split()) for each in found if re.search(r"\w", each)]


def pieces_of(document):
    """Return a document in passages."""
    if len(document) > 300 * document.line_count:  # long lines
        return chunk(document, by="chars", size=5_000)
    return chunk(document, by="lines", size=MOST_LINES)


def likely(claim, passages):
    """Return the passages that share most with a claim, and all the others."""
    words = {word for word in re.findall(r"\w+", claim.lower()) if len(word) > 3 or word.isdigit()} - COMMON
    shared = [len(words & set(re.findall(r"\w+", passage.lower()))) for passage in passages]
    best = sorted((at for at, count in enumerate(shared) if count), key=lambda at: (-shared[at], at))[:MOST_LIKELY]
    return [passages[at] for at in best], [passage for at, passage in enumerate(passages) if at not in best]


def stands_in(quote, passage):
    return bool(quote.strip()) and " ".join(quote.lower().split()) in " ".join(passage.lower().split())


def place(passage):
    return f"{passage.source} L{passage.first_line}-{passage.last_line}"


async def search(number):
    """Return the evidence for or against a claim, and the passages that could not be read."""
    unread = []

    async def look(passage):
        try:
            reply = await llm(
                f"Claim: {claims[number]}\n\nCopy from this passage of {passage.source} the sentences that show whether "
                f"the claim is true or false, word for word. If there are none, the list is empty.\n\n{passage}",
                FOUND,
                label=f"claim {number + 1}: {place(passage)}",
            )
        except TaskError as error:
            unread.append(f"{place(passage)}: {error}")
            return []
        return [quote for quote in reply["quotes"] if stands_in(quote, passage)]

    found = await prior_search(*likely(claims[number], passages), look)
    evidence = [
        {"quote": quote, "document": passage.source, "lines": [passage.first_line, passage.last_line]}
        for passage, quotes in found
        for quote in quotes
    ]
    return {"claim": claims[number], "evidence": evidence, "unread": unread}


async def judge(each, vote):
    listed = "\n".join(f"- {piece['quote']} ({piece['document']})" for piece in each["evidence"])
    reply = await llm(
        f"Claim: {each['claim']}\n\nEvidence:\n{listed}\n\nDoes the evidence alone support the claim, or refute it? If it "
        "does neither, say not found.",
        VERDICT,
        label=f"vote {vote}: {each['claim'][:60]}",
    )
    return reply["verdict"]


def decided(each, votes):
    """Return the verdict: that of more than half of the judges. None if too much failed to tell."""
    if not each["evidence"]:
        return None if each["unread"] else "not found"
    cast = [vote for vote in votes if vote is not None]
    if 2 * len(cast) <= VOTES:
        return None
    return next((vote for vote in cast if 2 * cast.count(vote) > VOTES), "not found")


documents = list(inputs.values())
claims = (args or {}).get("claims")
if claims is None:
    if len(documents) < 2:
        raise ValueError("verify-claims needs claims: a list in --args, or a text with them before the other inputs")
    claims = sentences_of(documents.pop(0))
elif not isinstance(claims, list) or not all(isinstance(claim, str) and claim.strip() for claim in claims):
    raise ValueError('verify-claims: claims must be a list of texts, such as ["The pump failed in May."]')
if not documents:
    raise ValueError("verify-claims needs documents to look into: name them after the workflow")

phase("search")
passages = [piece for document in documents for piece in pieces_of(document)]
found = await gather([search(number) for number in range(len(claims))])

phase("judge")
open_to_judge = [each for each in found if each["evidence"]]
cast = await parallel([judge(each, vote) for each in open_to_judge for vote in range(1, VOTES + 1)])
for each in found:
    each["votes"] = [cast.pop(0) for _ in range(VOTES)] if each["evidence"] else []
    each["verdict"] = decided(each, each["votes"])

verdicts = [each["verdict"] for each in found]
return {
    "claims": found,
    "counts": {verdict: verdicts.count(verdict) for verdict in ("supported", "refuted", "not found")},
    "failed": [each["claim"] for each in found if each["verdict"] is None],
}
