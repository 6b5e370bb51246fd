const kept = [];
while (true) kept.push(class { static x = new Array(1000).fill(1); });
