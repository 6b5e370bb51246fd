# Give every line of the inputs one of some labels. Lines go out in numbered batches; the answer to a batch counts only
# as far as it holds one known label for a number that was asked. What is left is asked once more, then line by line.
meta = {
    "name": "classify-lines",
    "description": "Give every line or CSV record of the inputs exactly one of some labels, and count them.",
    "whenToUse": "Many short texts, such as tickets, reviews or log lines, and a fixed list of labels.",
    "phases": [
        {"title": "classify", "detail": "batches of numbered lines"},
        {"title": "repair", "detail": "what a batch left out or labelled wrongly, again, then one by one"},
    ],
    "args": {
        "labels": "the labels, as a list of texts",
        "instruction": "optional: what the labels mean, or how to decide",
        "batch": "optional: lines in one call (20)",
    },
}

import json

given = args or {}
LABELS = given.get("labels")
if not isinstance(LABELS, list) or len(LABELS) < 2 or not all(isinstance(label, str) for label in LABELS):
    raise ValueError('classify-lines needs labels: a list of at least two texts, such as ["bug", "question"]')
SIZE = int(given.get("batch") or 20)
if SIZE < 1:
    raise ValueError("classify-lines: batch must be at least 1")

BY_NAME = {label.strip().lower(): label for label in LABELS}
TASK = f"Give each text exactly one of these labels: {', '.join(LABELS)}. {given.get('instruction') or ''}".strip()
SCHEMA = {
    "type": "object",
    "properties": {
        "labels": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"number": {"type": "integer"}, "label": {"type": "string"}},
                "required": ["number", "label"],
            },
        }
    },
    "required": ["labels"],
}


def texts_of(document):
    """Return the number and text of each line that is not blank; of a CSV file, of each record."""
    if document.name.lower().endswith(".csv"):
        return [(number, json.dumps(row)) for number, row in enumerate(document.records("csv"), 1)]
    return [(number, line) for number, line in document.numbered_lines() if line.strip()]


async def ask(batch, again=""):
    """Return the labels of a batch by place in the list of rows; only those that are known, each once."""
    listed = "\n".join(f"{number}: {rows[place]['text']}" for number, place in enumerate(batch, 1))
    reply = await llm(f"{TASK}{again}\n\n{listed}", SCHEMA, label=f"rows {batch[0] + 1} to {batch[-1] + 1}")
    found = {}
    for each in reply["labels"]:
        label = BY_NAME.get(each["label"].strip().lower())
        if label is not None and 1 <= each["number"] <= len(batch):
            found.setdefault(batch[each["number"] - 1], label)
    return found


async def label_all(batches, again=""):
    """Ask about batches, many at once, and note what comes of it. Return the places that are left."""
    for some in partition(batches, 1000):
        for found in await parallel([ask(batch, again) for batch in some]):
            for place, label in (found or {}).items():
                rows[place]["label"] = label
    return [place for batch in batches for place in batch if rows[place]["label"] is None]


rows = [
    {"input": document.name, "number": number, "text": text, "label": None}
    for document in inputs.values()
    for number, text in texts_of(document)
]
phase("classify")
left = await label_all(partition(range(len(rows)), SIZE))

AGAIN = " Answer with each number once, and with labels of the list alone."
if left:
    phase("repair")
    log(f"{len(left)} of {len(rows)} are without a label; asking again")
    left = await label_all(partition(left, SIZE), AGAIN)
    left = await label_all([[place] for place in left], AGAIN)

counts = {label: sum(row["label"] == label for row in rows) for label in LABELS}
labels = [{name: row[name] for name in ("input", "number", "label")} for row in rows]
save("labels", labels)
return {
    "counts": counts,
    "labels": labels,
    "failed": [{"input": rows[place]["input"], "number": rows[place]["number"]} for place in left],
}
