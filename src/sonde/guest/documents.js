// Documents, which the interpreter reads for code.

// --- Documents --------------------------------------------------------------------------------------------

class Match {
  #document;
  constructor(document, found) {
    this.#document = document;
    Object.assign(this, found);
  }
  get excerpt() {
    return this.#document.lines(this.first, this.last).join("\n");
  }
  toString() {
    return `${this.line}: ${this.text}`;
  }
}

class Piece extends String {
  constructor(told, source) {
    super(told.text);
    this.firstLine = told.first_line;
    this.lastLine = told.last_line;
    this.source = source;
  }
}

class Pieces {
  #document;
  #number;
  constructor(document, told) {
    this.#document = document;
    this.#number = told.pieces;
    this.length = told.length;
  }
  at(index) {
    const position = index < 0 ? index + this.length : index;
    if (position < 0 || position >= this.length) return undefined;
    const told = callNow("document", { operation: "piece", number: -1, arguments: [this.#number, position] });
    return new Piece(told, this.#document.name);
  }
  map(each) {
    return Array.from(this, each);
  }
  filter(keep) {
    return Array.from(this).filter(keep);
  }
  slice(start, end) {
    return Array.from(Array(this.length).keys()).slice(start, end).map((index) => this.at(index));
  }
  *[Symbol.iterator]() {
    for (let index = 0; index < this.length; index += 1) yield this.at(index);
  }
  toString() {
    return `<${this.length} pieces of ${this.#document}>`;
  }
}

const pattern = (what) => (what instanceof RegExp ? { source: what.source, flags: what.flags } : what);

class Document {
  #number; // or a text, which stands for itself
  #split;
  constructor(number, told) {
    this.#number = number;
    this.name = told.name;
    this.length = told.length;
    this.lineCount = told.lines;
  }
  ask(operation, ...given) {
    return callNow("document", { operation, number: this.#number, arguments: given });
  }
  slice(start = 0, end = this.length) {
    return this.ask("slice", start, end);
  }
  at(index) {
    const position = index < 0 ? index + this.length : index;
    return position < 0 || position >= this.length ? undefined : this.slice(position, position + 1);
  }
  line(number) {
    return this.lines(number, number)[0];
  }
  static number(document) {
    return isA(Document, document) && typeof document.#number === "number" ? document.#number : undefined;
  }
  lines(first = 1, last = this.lineCount) {
    if (typeof this.#number === "string" && first >= 1 && last <= this.lineCount) {
      this.#split ??= this.#number.split(/\r?\n/);
      return this.#split.slice(first - 1, last);
    }
    return this.ask("lines", first, last);
  }
  find(what, start = 0) {
    return this.ask("find", pattern(what), start);
  }
  count(what) {
    return this.ask("count", pattern(what));
  }
  includes(text) {
    return this.find(text) >= 0;
  }
  grep(what, { before = 20, after = 20, limit = null } = {}) {
    const source = what instanceof RegExp ? pattern(what) : { source: what, flags: "" };
    return this.ask("grep", source, before, after, limit).map((found) => new Match(this, found));
  }
  chunks({ by = "lines", size = null, overlap = 0 } = {}) {
    return new Pieces(this, this.ask("chunks", by, size, overlap));
  }
  records(kind = null) {
    return this.ask("records", kind);
  }
  peek(chars = 200) {
    return this.ask("peek", chars);
  }
  *[Symbol.iterator]() {
    const page = 1000;
    for (let first = 1; first <= this.lineCount; first += page) {
      yield* this.lines(first, Math.min(first + page - 1, this.lineCount));
    }
  }
  toString() {
    return `<Document "${this.name}": ${this.length} characters, ${this.lineCount} lines>`;
  }
}

const documents = world.inputs.map((told, number) => new Document(number, told));
const whole = new Document(-1, world.whole);
let text;
const context = () => (world.fits ? (text ??= whole.slice()) : whole);

const inputs = new Proxy(Object.fromEntries(documents.map((document) => [document.name, document])), {
  get(target, name) {
    if (name in target || typeof name !== "string" || name === "toJSON" || name === "constructor") return target[name];
    throw new ReferenceError(`no input ${stringify(name)}; known: ${Object.keys(target).slice(0, 20).join(", ") || "there are none"}`);
  },
});

const isText = (value) => typeof value === "string" || value instanceof Piece;

// A document of a text, or of all inputs.
function documentOf(source) {
  if (source === undefined || source === null || (source === text && text !== undefined)) return whole;
  if (source instanceof Document) return source;
  if (!isText(source)) throw new TypeError(`this takes a string or a Document, not ${show(source)}`);
  const given = String(source);
  return new Document(given, callNow("document", { operation: "describe", number: given, arguments: [] }));
}
