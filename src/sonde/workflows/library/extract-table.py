# Make a table of texts: every piece of every input is read for rows with the columns that were asked for. Rows that say
# the same are one. The table is also kept with the run as CSV, under the name "table.csv".
meta = {
    "name": "extract-table",
    "description": "Extract rows with given columns from all inputs into one table, and as CSV.",
    "whenToUse": "The same facts are scattered over many texts: invoices, profiles, reports, mails.",
    "phases": [
        {"title": "extract", "detail": "each piece, with a schema of the columns"},
        {"title": "merge", "detail": "rows that say the same are one"},
    ],
    "args": {
        "columns": "the names of the columns, as a list of texts; or an object, with what each is",
        "instruction": "optional: what a row is, and what is to be left out",
        "lines": "optional: lines in one call (200)",
    },
}

given = args or {}
COLUMNS = given.get("columns")
MEANING = COLUMNS if isinstance(COLUMNS, dict) else {name: "" for name in COLUMNS or []}
if not MEANING or not all(isinstance(name, str) and name for name in MEANING):
    raise ValueError('extract-table needs columns: a list of names, such as ["name", "date", "amount"]')
if len(MEANING) > 30:
    raise ValueError(f"extract-table: {len(MEANING)} columns; at most 30 fit one schema: make two tables")
LINES = int(given.get("lines") or 200)

CELL = {"type": ["string", "number", "null"]}
SCHEMA = {
    "type": "object",
    "properties": {
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {name: CELL for name in MEANING},
                "required": list(MEANING),
            },
        }
    },
    "required": ["rows"],
}
ASKED = "; ".join(f"{name}: {about}" if about else name for name, about in MEANING.items())
INSTRUCTION = given.get("instruction") or ""


def pieces_of(document):
    """Return a document in pieces that fit one call."""
    if len(document) > 300 * document.line_count:  # long lines
        return chunk(document, by="chars", size=20_000)
    return chunk(document, by="lines", size=LINES)


def place(piece):
    return f"{piece.source} L{piece.first_line}-{piece.last_line}"


async def extract(piece):
    reply = await llm(
        f"Extract a row for each thing that this text tells of, with these columns: {ASKED}. {INSTRUCTION} Take values "
        f"as they are written; null where the text does not tell. No rows is a good answer.\n\n{piece}",
        SCHEMA,
        label=place(piece),
    )
    return reply["rows"]


def told(value):
    """Return a value as it is compared: without regard to capitals and spaces."""
    return " ".join(str(value).lower().split())


def as_csv(values):
    """Return one line of CSV."""
    cells = ["" if value is None else str(value) for value in values]
    return ",".join('"' + cell.replace('"', '""') + '"' if set(cell) & set('",\r\n') else cell for cell in cells)


phase("extract")
pieces = [piece for document in inputs.values() for piece in pieces_of(document)]
outcomes = await parallel(*[extract(piece) for piece in pieces])

phase("merge")
once, doubled = {}, 0
for piece, found in zip(pieces, outcomes):
    for row in found or []:
        values = {name: row[name] for name in MEANING}
        if all(value is None for value in values.values()):
            continue
        key = tuple(told(value) for value in values.values())
        doubled += key in once
        once.setdefault(key, {**values, "source": place(piece)})

rows = list(once.values())
header = [*MEANING, "source"]
table = "\n".join([as_csv(header), *[as_csv([row[name] for name in header]) for row in rows]]) + "\n"
save("table.csv", table)
log(f"{len(rows)} rows from {len(pieces)} pieces; {doubled} were told twice")
return {
    "columns": header,
    "rows": rows,
    "doubled": doubled,
    "failed": [place(piece) for piece, found in zip(pieces, outcomes) if found is None],
}
