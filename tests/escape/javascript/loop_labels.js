outer: while (true) { while (true) continue outer; }
