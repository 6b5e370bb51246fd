const kept = [];
while (true) { try { kept.push(new Float64Array(1 << 17).fill(1)); } catch {} }
