const kept = [];
function* each() { yield new Array(1000).fill(0); }
while (true) { const one = each(); one.next(); kept.push(one); }
