# Review source files. Each file, or each part of a large one, is read by one reviewer; whatever it finds is looked at
# by three others, who see the code around it and know nothing of each other. Only what most of them confirm is told.
meta = {
    "name": "review-code",
    "description": "Review source files, have every finding checked by three others, and tell what holds.",
    "whenToUse": "A second look at a change or a project: bugs, security, correctness.",
    "phases": [
        {"title": "review", "detail": "each file; large ones in parts, cut at functions"},
        {"title": "verify", "detail": "three independent verifiers for each finding"},
    ],
    "args": {
        "focus": "optional: what to look for (bugs and security problems)",
        "severity": "optional: the least severe to tell: low, medium, high or critical (low)",
    },
}

SEVERITIES = ["critical", "high", "medium", "low"]
given = args or {}
FOCUS = given.get("focus") or "bugs and security problems"
LEAST = given.get("severity") or "low"
if LEAST not in SEVERITIES:
    raise ValueError(f"review-code: severity {LEAST!r}; use one of {', '.join(SEVERITIES)}")
WANTED = SEVERITIES[: SEVERITIES.index(LEAST) + 1]

MOST_LINES = 400  # of one call
AROUND = 15  # lines of code above and below a finding that its verifiers see
VERIFIERS = 3
FINDINGS = {
    "type": "object",
    "properties": {
        "findings": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "line": {"type": "integer"},
                    "severity": {"type": "string", "enum": SEVERITIES},
                    "title": {"type": "string"},
                    "detail": {"type": "string"},
                },
                "required": ["line", "severity", "title", "detail"],
            },
        }
    },
    "required": ["findings"],
}
VERDICT = {"type": "object", "properties": {"confirmed": {"type": "boolean"}}, "required": ["confirmed"]}
SIDES = [
    "Look for what speaks for it.",
    "Look for what speaks against it: a check elsewhere in this code, a value that cannot be.",
    "Check the line and every detail that it names.",
]


def parts_of(document):
    """Return the parts of a file, each from its first line to its last: whole functions, as many as go together."""
    if document.line_count <= MOST_LINES:
        return [(document, 1, document.line_count)] if document.line_count else []
    parts = []
    for piece in chunk(document, by="function", size=MOST_LINES):
        if parts and piece.last_line - parts[-1][1] < MOST_LINES:
            parts[-1] = (document, parts[-1][1], piece.last_line)
        else:
            parts.append((document, piece.first_line, piece.last_line))
    return parts


def numbered(document, first, last):
    return "\n".join(f"{number}: {line}" for number, line in enumerate(document.lines(first, last), first))


def span(part):
    document, first, last = part
    return f"{document.name}:{first}-{last}"


async def review(part):
    document, first, last = part
    reply = await llm(
        f"Review this part of {document.name} for {FOCUS}. Lines are numbered. Tell only what is really wrong here; "
        f"give the number of the line where it is. No findings is a good answer.\n\n{numbered(*part)}",
        FINDINGS,
        label=span(part),
    )
    # A line that is not in the part is a slip of the reviewer's: the finding counts for the nearest one that is.
    return [
        {"file": document.name, **each, "line": min(max(each["line"], first), last)}
        for each in reply["findings"]
        if each["severity"] in WANTED
    ]


phase("review")
parts = [part for document in inputs.values() for part in parts_of(document)]
reviews = await parallel(*[review(part) for part in parts])
failed = [span(part) for part, found in zip(parts, reviews) if found is None]

# The same thing told twice, by the reviewers of two parts or by one twice, is one finding.
once = {(each["file"], each["line"], each["title"].lower()): each for found in reviews for each in found or []}
findings = sorted(once.values(), key=lambda each: (SEVERITIES.index(each["severity"]), each["file"], each["line"]))

asked = [0 for _ in findings]
answered = [0 for _ in findings]


async def is_so(number):
    """Have a finding looked at once more, each time from another side."""
    finding, side = findings[number], SIDES[asked[number] % len(SIDES)]
    asked[number] += 1
    document = inputs[finding["file"]]
    first, last = max(1, finding["line"] - AROUND), min(document.line_count, finding["line"] + AROUND)
    verdict = await llm(
        f"A reviewer of {finding['file']} says of line {finding['line']}: {finding['title']}. {finding['detail']}\n\n"
        f"{numbered(document, first, last)}\n\nIs this so? {side} Confirm it only if you are sure.",
        VERDICT,
        label=f"verify {finding['file']}:{finding['line']}",
    )
    answered[number] += 1
    return verdict["confirmed"]


kept = await verify(range(len(findings)), n=VERIFIERS, verifier=is_so)
unverified = [number for number in range(len(findings)) if answered[number] == 0]
log(f"{len(kept)} of {len(findings)} findings hold")
return {
    "findings": [findings[number] for number in kept],
    "refuted": len(findings) - len(kept) - len(unverified),
    "unverified": [findings[number] for number in unverified],
    "files": len(inputs),
    "failed": failed,
}
