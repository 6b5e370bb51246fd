let kept = [0];
while (true) kept = [...kept, ...kept];
