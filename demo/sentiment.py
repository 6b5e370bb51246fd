# A saved workflow for a very small model: it cannot follow a schema, but it can go on with a text. So each message is put
# after two examples, and what the model writes next is taken for the label if it is one. The wording was chosen on other
# messages. To label lines with a larger model, use `sonde run classify-lines`.
meta = {
    "name": "sentiment",
    "description": "How many of these messages are positive, and how many are negative?",
    "phases": [{"title": "label", "detail": "one call for each message"}, {"title": "count", "detail": "in code"}],
}

EXAMPLES = """Review: The cushion was dirty and nobody wants to take it back.
Sentiment: negative

Review: The lamp is wonderful and came two days early.
Sentiment: positive

"""
LABELS = ["positive", "negative"]


async def label(row):
    reply = await llm(f"{EXAMPLES}Review: {row['message']}\nSentiment:", label=f"message {row['id']}")
    word = reply.strip().lower().rstrip(".")
    return word if word in LABELS else "unclear"


phase("label")
rows = list(inputs["messages"].records())
found = await parallel([label(row) for row in rows])

phase("count")
labels = {row["id"]: given or "failed" for row, given in zip(rows, found)}
return {"counts": {name: list(labels.values()).count(name) for name in sorted(set(labels.values()))}, "labels": labels}
