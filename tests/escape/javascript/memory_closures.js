let kept = () => 1;
while (true) { const before = kept; kept = () => before; }
