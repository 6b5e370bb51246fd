const kinds = [async () => {}, function* () {}, async function* () {}, () => {}];
const found = kinds.map((kind) => { try { return Object.getPrototypeOf(kind).constructor('return typeof ask + typeof told + typeof engine + typeof outgoing')(); } catch { return ''; } });
found.some((each) => typeof each === 'string' && /function|object/.test(each)) ? 'ESCAPED' : 'held'
